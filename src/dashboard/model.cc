#include "dashboard/model.h"

#include <fmt/format.h>

#include "json/timestamp.h"

namespace quorate::dashboard {
namespace {

constexpr std::size_t kEvents = 50;  // of one cluster; the API server keeps them for an hour

std::string_view word(cli::Mark mark) {
  switch (mark) {
    case cli::Mark::kGood:
      return "good";
    case cli::Mark::kWarning:
      return "warning";
    case cli::Mark::kBad:
      return "bad";
    case cli::Mark::kPlain:
    case cli::Mark::kFaint:
    case cli::Mark::kBold:
      break;
  }
  return "plain";
}

json::Value time(const std::optional<WallTime>& when) {
  return when ? json::Value(json::render_time(*when)) : json::Value(nullptr);
}

json::Array make_members(const cli::ClusterFacts& facts) {
  json::Array out;
  for (const auto& member : cli::describe_members(facts))
    out.push_back(json::Object{{"name", member.name},
                               {"role", member.role},
                               {"ready", member.ready},
                               {"version", member.version},
                               {"node", member.node},
                               {"pod", member.pod},
                               {"volume", member.volume},
                               {"db", member.db},
                               {"lag", member.lag},
                               {"restarts", member.restarts},
                               {"created", time(member.created)}});
  return out;
}

json::Array make_verdicts(const cli::Why& why) {
  json::Array out;
  for (const auto& verdict : why.verdicts)
    out.push_back(json::Object{{"mark", word(verdict.mark)},
                               {"rule", verdict.rule},
                               {"verb", verdict.verb},
                               {"reason", verdict.reason},
                               {"message", verdict.message},
                               {"since", time(verdict.since)},
                               {"deadline", time(verdict.deadline)},
                               {"advice", verdict.advice}});
  return out;
}

json::Array make_remarks(const cli::Why& why) {
  json::Array out;
  for (const auto& remark : why.remarks)
    out.push_back(
        json::Object{{"text", remark.text}, {"since", time(remark.since)}, {"more", remark.more}});
  return out;
}

json::Array make_events(const std::vector<cli::EventView>& events) {
  json::Array out;
  for (const auto& event : events) {
    if (out.size() == kEvents) break;
    out.push_back(
        json::Object{{"mark", word(event.warning ? cli::Mark::kWarning : cli::Mark::kPlain)},
                     {"last", time(event.last)},
                     {"count", event.count},
                     {"reason", event.reason},
                     {"about", fmt::format("{} {}", event.kind, event.name)},
                     {"message", event.message}});
  }
  return out;
}

json::Array make_history(const std::deque<Change>& history) {
  json::Array out;
  for (const auto& change : history)
    out.push_back(
        json::Object{{"mark", word(change.mark)}, {"at", time(change.at)}, {"text", change.text}});
  return out;
}

// What else is to be known, each with its name.
json::Array make_about(const op::ClusterView& cluster) {
  json::Array out;
  const auto put = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) out.push_back(json::Object{{"name", name}, {"value", value}});
  };
  if (!cluster.status) return out;
  const auto& status = *cluster.status;
  if (status.version.target && status.version.current != status.version.target)
    put("etcd to come", status.version.target->text());
  if (status.cluster_id) put("cluster ID", status.cluster_id->text());
  put("operator", status.operator_identity);
  if (const auto* valid = status.find_condition(api::kConditionCertificates))
    put("certificates", valid->message.empty() ? valid->reason : valid->message);
  return out;
}

}  // namespace

json::Object make_row(const op::ClusterView& cluster) {
  const auto health = cli::health_of(cluster);
  json::Object out{{"namespace", cluster.meta.key.ns},
                   {"name", cluster.meta.key.name},
                   {"mark", word(health.mark)},
                   {"health", health.text},
                   {"ready", ""},
                   {"version", ""},
                   {"leader", ""},
                   {"created", time(cluster.meta.created)}};
  if (const auto& status = cluster.status) {
    out["ready"] = status->ready;
    if (status->version.current) out["version"] = status->version.current->text();
    out["leader"] = status->leader.value_or("");
  }
  return out;
}

json::Object make_page(const cli::ClusterFacts& facts, const std::deque<Change>& history) {
  auto out = make_row(facts.cluster);
  const auto why = cli::describe_why(facts.cluster);
  out["about"] = make_about(facts.cluster);
  out["members"] = make_members(facts);
  out["remarks"] = make_remarks(why);
  out["verdicts"] = make_verdicts(why);
  out["events"] = make_events(facts.events);
  out["history"] = make_history(history);
  return out;
}

}  // namespace quorate::dashboard

#include "cli/changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/words.h"

namespace quorate::cli {
namespace {

constexpr const char* kGone = "gone";
constexpr const char* kContent = "content";  // a rule that has nothing to say any more

std::string listed(std::vector<std::string> parts) {
  std::erase(parts, "");
  return join(parts, ", ");
}

Statement state_health(const op::ClusterView& cluster) {
  const auto& status = cluster.status;
  return {
      cluster.meta.key.text(),
      listed({health_of(cluster).text,
              status && !status->ready.empty() ? status->ready + " ready" : "",
              status && status->version.current ? "etcd " + status->version.current->text() : ""}),
      kGone};
}

Statement state_member(const MemberWords& member) {
  return {"member " + member.name,
          listed({member.role, member.ready ? "ready" : "not ready", member.version,
                  member.node.empty() ? "" : "on " + member.node, "Pod " + member.pod,
                  member.volume.empty() ? "" : "volume " + member.volume}),
          kGone};
}

Statement state_verdict(const VerdictWords& words) {
  return {words.rule, fmt::format("{}: {}: {}", words.verb, words.reason, words.message), kContent};
}

// One that is seen again has a higher count; old ones are forgotten, which means nothing.
Statement state_event(const EventView& event) {
  const auto times = event.count > 1 ? fmt::format(" ({} times)", event.count) : "";
  return {"event",
          fmt::format("{} {} {}: {}{}", event.reason, event.kind, event.name, event.message, times),
          ""};
}

bool speaks_of(const Statements& all, const std::string& subject) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Statement& one) { return one.subject == subject; });
}

}  // namespace

Statements state_cluster(const ClusterFacts& facts) {
  Statements out{state_health(facts.cluster)};
  for (const auto& member : describe_members(facts)) out.push_back(state_member(member));
  for (const auto& verdict : describe_why(facts.cluster).verdicts)
    out.push_back(state_verdict(verdict));
  if (const auto& status = facts.cluster.status)
    if (const auto* condition = status->find_condition(api::kConditionCertificates))
      out.push_back({"certificates",
                     condition->message.empty() ? condition->reason : condition->message, ""});
  for (auto event = facts.events.rbegin(); event != facts.events.rend(); ++event)
    out.push_back(state_event(*event));
  for (const auto& what : facts.unknown) out.push_back({"not known", what, ""});
  return out;
}

Statements state_fleet(std::span<const ListedCluster> clusters) {
  Statements out;
  for (const auto& one : clusters) out.push_back(state_health(one.cluster));
  return out;
}

Statements state_why(const op::ClusterView& cluster) {
  Statements out{state_health(cluster)};
  const auto why = describe_why(cluster);
  for (const auto& remark : why.remarks) out.push_back({"note", remark.text, ""});
  for (const auto& verdict : why.verdicts) {
    out.push_back(state_verdict(verdict));
    if (!verdict.advice.empty()) out.back().text += "; you can: " + verdict.advice;
  }
  return out;
}

std::vector<std::string> changes(const Statements& before, const Statements& after) {
  std::vector<std::string> out;
  for (const auto& one : after)
    if (std::find(before.begin(), before.end(), one) == before.end())
      out.push_back(fmt::format("{}: {}", one.subject, one.text));
  for (const auto& one : before)
    if (!one.over.empty() && !speaks_of(after, one.subject))
      out.push_back(fmt::format("{}: {}", one.subject, one.over));
  return out;
}

}  // namespace quorate::cli

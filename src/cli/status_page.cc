#include "cli/status_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/ages.h"
#include "cli/words.h"

namespace quorate::cli {
namespace {

constexpr std::size_t kEvents = 8;

std::string age_of(const kube::Head& meta, WallTime now) {
  return meta.created ? age(*meta.created, now) : "";
}

// What is declared and not in place is told by the waits; this is what there is.
std::string headline(const ClusterFacts& facts, const PageOptions& options) {
  const auto health = health_of(facts.cluster);
  std::string out = fmt::format("{}  {}\n", options.paint(Mark::kBold, facts.key().text()),
                                options.paint(health.mark, health.text));
  std::vector<std::string> about;
  if (const auto& status = facts.cluster.status) {
    about.push_back(fmt::format("{} ready", status->ready));
    if (status->version.current) about.push_back("etcd " + status->version.current->text());
    if (status->version.target && status->version.current != status->version.target)
      about.push_back("to " + status->version.target->text());
    if (status->storage.db_size) about.push_back("DB " + *status->storage.db_size);
    if (status->cluster_id) about.push_back("cluster ID " + status->cluster_id->text());
    if (!status->operator_identity.empty())
      about.push_back("operator " + status->operator_identity);
  }
  if (facts.cluster.meta.created) about.push_back(age_of(facts.cluster.meta, options.now) + " old");
  return out + fmt::format("  {}\n", fmt::join(about, " · "));
}

std::string members_of(const ClusterFacts& facts, const PageOptions& options) {
  std::vector<std::string> head{"MEMBER", "ROLE",   "READY", "VERSION", "NODE",
                                "POD",    "VOLUME", "DB",    "LAG",     "AGE"};
  if (options.wide) head.insert(head.end(), {"ID", "ADDRESS", "RESTARTS"});
  Table table(std::move(head));
  for (auto& member : describe_members(facts)) {
    std::vector<Table::Cell> row{
        member.name,
        member.role,
        {member.ready ? "yes" : "no", member.ready ? Mark::kGood : Mark::kWarning},
        member.version,
        member.node,
        member.pod,
        member.volume,
        member.db,
        member.lag,
        member.created ? age(*member.created, options.now) : ""};
    if (options.wide)
      for (auto* cell : {&member.id, &member.address, &member.restarts})
        row.emplace_back(std::move(*cell));
    table.add(std::move(row));
  }
  if (table.empty()) return "  no members yet\n";
  return table.render(options.paint, "  ");
}

std::string waits_of(const api::ClusterStatus& status, const PageOptions& options) {
  if (status.waiting.empty()) return "";
  Table table({"RULE", "VERDICT", "REASON", "SINCE", "UNTIL", "MESSAGE"});
  for (const auto& entry : status.waiting) {
    const bool late = entry.deadline && *entry.deadline < options.now;
    const auto until = !entry.deadline ? std::string()
                       : late          ? age(*entry.deadline, options.now) + " ago"
                                       : "in " + age(options.now, *entry.deadline);
    table.add({entry.rule,
               {entry.verdict, entry.verdict == "blocked" ? Mark::kBad : Mark::kPlain},
               entry.reason,
               age(entry.since, options.now),
               {until, late ? Mark::kBad : Mark::kPlain},
               entry.message});
  }
  return "\n" + table.render(options.paint, "  ");
}

std::string certificates_of(const api::ClusterStatus& status, const PageOptions& options) {
  const auto* condition = status.find_condition(api::kConditionCertificates);
  if (!condition) return "";
  const bool valid = condition->status == api::ConditionStatus::kTrue;
  return fmt::format(
      "\n  certificates: {}\n",
      options.paint(valid ? Mark::kPlain : Mark::kBad,
                    condition->message.empty() ? condition->reason : condition->message));
}

std::string events_of(const ClusterFacts& facts, const PageOptions& options) {
  if (facts.events.empty()) return "";
  Table table({"LAST", "COUNT", "REASON", "ABOUT", "MESSAGE"});
  const auto shown = std::min(facts.events.size(), options.wide ? facts.events.size() : kEvents);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& event = facts.events[i];
    table.add({event.last ? age(*event.last, options.now) : "",
               std::to_string(event.count),
               {event.reason, event.warning ? Mark::kWarning : Mark::kPlain},
               fmt::format("{} {}", event.kind, event.name),
               event.message});
  }
  auto out = "\n" + table.render(options.paint, "  ");
  if (shown < facts.events.size())
    out += fmt::format("  and {} older ones: -o wide shows them\n", facts.events.size() - shown);
  return out;
}

}  // namespace

std::string render_status(const ClusterFacts& facts, const PageOptions& options) {
  std::string out = headline(facts, options) + "\n" + members_of(facts, options);
  if (!facts.cluster.undecodable.empty())
    out += fmt::format("\n  its spec cannot be read: {}\n", facts.cluster.undecodable);
  if (const auto& status = facts.cluster.status) {
    out += waits_of(*status, options);
    out += certificates_of(*status, options);
  }
  out += events_of(facts, options);
  for (const auto& what : facts.unknown)
    out += fmt::format("\n  {} {}\n", options.paint(Mark::kWarning, "not known:"), what);
  return out;
}

std::string render_fleet(std::span<const ListedCluster> clusters, const PageOptions& options) {
  std::vector<std::string> head{"NAMESPACE", "NAME", "READY", "VERSION", "DB", "AGE", "HEALTH"};
  if (options.wide) head.insert(head.end() - 1, {"LEADER", "CLUSTER ID"});
  Table table(std::move(head));
  for (const auto& [text, cluster] : clusters) {
    const auto& status = cluster.status;
    const auto health = health_of(cluster);
    std::vector<Table::Cell> row{
        cluster.meta.key.ns,
        cluster.meta.key.name,
        status ? status->ready : "",
        status && status->version.current ? status->version.current->text() : "",
        status ? status->storage.db_size.value_or("") : "",
        age_of(cluster.meta, options.now)};
    if (options.wide) {
      row.emplace_back(status ? status->leader.value_or("") : "");
      row.emplace_back(status && status->cluster_id ? status->cluster_id->text() : "");
    }
    row.emplace_back(health.text, health.mark);
    table.add(std::move(row));
  }
  return table.render(options.paint);
}

}  // namespace quorate::cli

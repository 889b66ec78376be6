#include "tests/sim/plans/story.h"

#include <fmt/format.h>

#include "json/document.h"
#include "tests/sim/invariants/requests.h"

namespace quorate::sim {
namespace {

std::string describe(const Audit::Entry& entry) {
  auto spoken = parse_path(entry.path);
  if (!spoken) return fmt::format("{} {} -> {}", entry.method, entry.path, entry.status);
  auto name = spoken->key.name;
  if (name.empty())
    if (auto body = json::parse(entry.body)) name = json::text_or(*body, "/metadata/name", "");
  return fmt::format("{} {} {}{}{} -> {}   (effect {})", entry.method, spoken->plural, name,
                     spoken->subresource.empty() ? "" : "/", spoken->subresource, entry.status,
                     entry.effect);
}

std::string_view name(datadir::StartState state) {
  return state == datadir::StartState::kNew ? "new" : "existing";
}

}  // namespace

Story::Story(World& world, std::function<void(std::string_view)> tell)
    : world_(world), tell_(std::move(tell)) {}

void Story::say(std::string_view who, std::string_view what) {
  tell_(fmt::format("{:>9.3f} s  step {:>7}  {:<12} {}\n",
                    std::chrono::duration<double>(world_.elapsed()).count(), world_.steps(), who,
                    what));
}

void Story::look() {
  const auto& audit = world_.audit();
  for (; entries_ < audit.entries.size(); ++entries_)
    if (const auto& entry = audit.entries[entries_]; entry.effect != 0)
      say(entry.actor, describe(entry));
  for (; changes_ < audit.changes.size(); ++changes_) {
    const auto& change = audit.changes[changes_];
    say(change.actor, fmt::format("{} {} at {}   (effect {})", change.operation,
                                  change.member.text(), change.endpoint, change.effect));
  }
  const auto& ledger = world_.ledger();
  for (; starts_ < ledger.starts.size(); ++starts_) {
    const auto& start = ledger.starts[starts_];
    say(start.node, fmt::format("starts etcd in {} on {} ({}), {}", start.pod.text(), start.disk,
                                start.incarnation, name(start.state)));
  }
  for (; refusals_ < ledger.refusals.size(); ++refusals_) {
    const auto& refusal = ledger.refusals[refusals_];
    say("guard",
        fmt::format("refuses to start {}: exit code {}", refusal.pod.text(), refusal.code));
  }
  for (auto* process : world_.etcd().processes()) {
    const auto* member = process->member();
    if (!member || !member->raft().leads() || !member->raft().committed_in_term()) continue;
    auto text = fmt::format("{} in term {}", process->site().substr(0, process->site().rfind('/')),
                            member->raft().term());
    auto& known = leaders_[member->cluster().text()];
    if (known == text) continue;
    known = text;
    say("etcd", "is led by " + text);
  }
}

}  // namespace quorate::sim

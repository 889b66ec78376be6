#include "dashboard/history.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace quorate::dashboard {
namespace {

using cli::Mark;

constexpr std::size_t kKept = 100;

std::string_view word(api::ConditionStatus status) {
  switch (status) {
    case api::ConditionStatus::kTrue:
      return "true";
    case api::ConditionStatus::kFalse:
      return "false";
    case api::ConditionStatus::kUnknown:
      return "unknown";
  }
  return "unknown";
}

// What is known of the time before anybody looked, the oldest first.
std::vector<Change> earlier(const op::ClusterView& cluster) {
  std::vector<Change> out;
  if (cluster.meta.created) out.push_back({*cluster.meta.created, Mark::kPlain, "declared"});
  if (cluster.status)
    for (const auto& condition : cluster.status->conditions)
      out.push_back({condition.last_transition_time, Mark::kPlain,
                     fmt::format("{} became {}: {}", condition.type, word(condition.status),
                                 condition.reason)});
  std::stable_sort(out.begin(), out.end(),
                   [](const Change& a, const Change& b) { return a.at < b.at; });
  return out;
}

std::optional<std::string> leader_of(const op::ClusterView& cluster) {
  return cluster.status ? cluster.status->leader : std::nullopt;
}

std::string version_of(const op::ClusterView& cluster) {
  if (!cluster.status || !cluster.status->version.current) return "";
  return cluster.status->version.current->text();
}

std::string step_of(const op::ClusterView& cluster) {
  if (!cluster.status || !cluster.status->intent) return "";
  const auto& intent = *cluster.status->intent;
  return fmt::format("{} of {}", intent.step, join(intent.targets, ", "));
}

}  // namespace

void History::add(std::deque<Change>& changes, Change change) {
  changes.push_front(std::move(change));
  if (changes.size() > kKept) changes.pop_back();
}

void History::note(const ObjectKey& key, const op::ClusterView* before,
                   const op::ClusterView* after, WallTime now) {
  if (!after) {
    changes_.erase(key);
    return;
  }
  auto& changes = changes_[key];
  if (!before || before->meta.uid != after->meta.uid) {
    changes.clear();
    for (auto& change : earlier(*after)) add(changes, std::move(change));
    return;
  }
  const auto was = cli::health_of(*before), is = cli::health_of(*after);
  if (before->meta.generation != after->meta.generation)
    add(changes,
        {now, Mark::kPlain, fmt::format("generation {} was declared", after->meta.generation)});
  if (const auto step = step_of(*after); !step.empty() && step != step_of(*before))
    add(changes, {now, Mark::kPlain, "a step begins: " + step});
  if (const auto leader = leader_of(*after); leader != leader_of(*before))
    add(changes, {now, leader ? Mark::kPlain : Mark::kWarning,
                  leader ? *leader + " leads" : std::string("there is no leader")});
  if (const auto version = version_of(*after); !version.empty() && version != version_of(*before))
    add(changes, {now, Mark::kPlain, "etcd " + version});
  if (was.text != is.text || was.mark != is.mark) add(changes, {now, is.mark, is.text});
}

const std::deque<Change>& History::of(const ObjectKey& key) const {
  static const std::deque<Change> none;
  const auto found = changes_.find(key);
  return found == changes_.end() ? none : found->second;
}

}  // namespace quorate::dashboard

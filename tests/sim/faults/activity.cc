#include "tests/sim/faults/activity.h"

#include <array>

#include "api/cluster.h"
#include "tests/sim/world.h"

namespace quorate::sim {

std::string_view name(Activity activity) {
  constexpr std::array<std::string_view, 8> kNames{"nothing",   "forming", "steady", "growing",
                                                   "shrinking", "broken",  "asleep", "deleting"};
  return kNames.at(static_cast<std::size_t>(activity));
}

Activity activity_of(World& world, const std::string& cluster) {
  const auto object = world.cluster(cluster);
  const auto pods = world.pods_of(cluster);
  if (!object) return pods.empty() ? Activity::kNothing : Activity::kDeleting;
  const auto wanted = static_cast<std::size_t>(
      json::integer_at(*object, "/spec/replicas").value_or(api::kDefaultReplicas));
  if (wanted == 0) return Activity::kAsleep;
  if (!world.was_served(cluster)) return Activity::kForming;
  std::size_t running = 0;
  const etcdsim::Member* witness = nullptr;
  for (const auto& pod : pods) {
    const auto* process = world.process_of(pod);
    const auto* member = process ? process->member() : nullptr;
    if (!member || process->paused()) continue;
    if (!member->is_learner()) ++running;
    if (member->raft().leader()) witness = member;
  }
  if (!witness) return Activity::kBroken;
  const auto voters = witness->state().membership.voters().size();
  if (voters > wanted) return Activity::kShrinking;
  if (voters < wanted) return Activity::kGrowing;
  return running < voters ? Activity::kBroken : Activity::kSteady;
}

}  // namespace quorate::sim

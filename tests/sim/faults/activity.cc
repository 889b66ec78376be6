#include "tests/sim/faults/activity.h"

#include <array>

#include "api/cluster.h"
#include "apiserver/registry.h"
#include "tests/sim/world.h"

namespace quorate::sim {

std::string_view name(Activity activity) {
  constexpr std::array<std::string_view, 9> kNames{"nothing", "forming",   "steady",
                                                   "growing", "shrinking", "rolling",
                                                   "broken",  "asleep",    "deleting"};
  return kNames.at(static_cast<std::size_t>(activity));
}

namespace {

// By version and memory, which are what stories change.
bool is_as_declared(World& world, const json::Value& cluster, const ObjectKey& pod) {
  const auto there = world.find(*world.api().registry().built_in().pods, pod);
  if (!there) return true;
  const auto version = json::text_or(cluster, "/spec/version", "");
  const auto image = json::text_or(*there, "/spec/containers/0/image", "");
  if (!version.empty() && !image.ends_with(":v" + std::string(version))) return false;
  const auto memory = json::text_or(cluster, "/spec/resources/requests/memory", "");
  return memory.empty() ||
         json::text_or(*there, "/spec/containers/0/resources/requests/memory", "") == memory;
}

}  // namespace

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
  for (const auto& pod : pods)
    if (!is_as_declared(world, *object, pod)) return Activity::kRolling;
  return running < voters ? Activity::kBroken : Activity::kSteady;
}

}  // namespace quorate::sim

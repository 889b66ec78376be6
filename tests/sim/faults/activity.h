#pragma once

#include <string>
#include <string_view>

namespace quorate::sim {

class World;

// What goes on in a cluster, by the truth of the world: what a fault falls into.
enum class Activity {
  kNothing,    // there is none
  kForming,    // no client was ever sent to it
  kSteady,     // as many members as are wanted run and vote
  kGrowing,    // fewer vote than are wanted
  kShrinking,  // more do
  kRolling,    // as many as are wanted vote, and some are not as they are declared now
  kBroken,     // a member does not run
  kAsleep,     // none is wanted
  kDeleting,   // it is gone, and something of it is left
};
[[nodiscard]] std::string_view name(Activity activity);

[[nodiscard]] Activity activity_of(World& world, const std::string& cluster);

}  // namespace quorate::sim

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/faults/plan.h"
#include "tests/sim/world.h"

namespace quorate::sim {

// An operator that is broken in one way, as operators were broken before:
// another rule, or a decorator of a seam. Production code knows nothing of it.
struct Mutant {
  std::string name;
  std::string says;
  std::vector<std::string> killed_by;  // invariants, any of which must notice
  std::string scenario;                // in which it is looked for
  std::vector<Plan> plans;             // that are tried first
  std::function<void(WorldOptions&)> apply;
  std::optional<Duration> length = {};  // another than the scenario's
};

[[nodiscard]] const std::vector<Mutant>& museum();
[[nodiscard]] const Mutant* find_mutant(std::string_view name);

}  // namespace quorate::sim

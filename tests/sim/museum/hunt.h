#pragma once

#include <functional>

#include "tests/sim/plans/figures.h"
#include "tests/sim/plans/runner.h"

namespace quorate::sim {

struct Hunted {
  Killed killed;
  Trial smallest;    // that kills it
  Outcome survivor;  // of the production operator in the same trial: if that breaks the same
                     // invariant, the hunt proves nothing
};

// Tries the mutant's plans, then drawn ones, until the invariant that it should break is broken;
// then looks for the smallest plan that does. Each run is told to `each`.
[[nodiscard]] Hunted hunt(const Mutant& mutant,
                          const std::function<void(const Trial&, const Outcome&)>& each,
                          int most_seeds = 50);

}  // namespace quorate::sim

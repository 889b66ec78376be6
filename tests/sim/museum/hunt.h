#pragma once

#include <functional>

#include "tests/sim/plans/figures.h"
#include "tests/sim/plans/runner.h"

namespace quorate::sim {

struct Hunted {
  const Mutant* mutant = nullptr;
  Killed killed;
  std::vector<std::pair<Trial, Outcome>> runs;  // until it was killed
  Trial smallest;                               // that kills it
  Outcome survivor;  // of the production operator in the same trial: if that breaks the same
                     // invariant, the hunt proves nothing
};

// Tries the mutant's plans, then drawn ones, until the invariant that it should break is broken;
// then looks for the smallest plan that does.
[[nodiscard]] Hunted hunt(const Mutant& mutant, int most_seeds = 10);

// Side by side; handed over in the order of the list, in the caller's thread.
void hunt_all(const std::vector<const Mutant*>& mutants, unsigned jobs,
              const std::function<void(const Hunted&)>& each);

}  // namespace quorate::sim

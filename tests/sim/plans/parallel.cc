#include "tests/sim/plans/parallel.h"

namespace quorate::sim {

void run_all(const std::vector<Trial>& trials, unsigned jobs,
             const std::function<void(const Trial&, const Outcome&)>& each) {
  side_by_side<Outcome>(
      trials.size(), jobs, [&](std::size_t i) { return run(trials[i]); },
      [&](std::size_t i, const Outcome& outcome) { each(trials[i], outcome); });
}

}  // namespace quorate::sim

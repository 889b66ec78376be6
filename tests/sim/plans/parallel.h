#pragma once

#include <functional>
#include <vector>

#include "tests/sim/plans/runner.h"

namespace quorate::sim {

// Runs trials side by side, one world a thread, and hands over what came out, in the order of the
// trials and in the caller's thread.
void run_all(const std::vector<Trial>& trials, unsigned jobs,
             const std::function<void(const Trial&, const Outcome&)>& each);

}  // namespace quorate::sim

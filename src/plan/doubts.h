#pragma once

#include <vector>

#include "plan/situation.h"

namespace quorate::plan {

// Why membership or data of a formed cluster are not to be trusted, whoever is asked; empty while
// nothing speaks against them. `doubt` tells it, and the gate lets nobody pass.
[[nodiscard]] std::vector<Reason> find_doubts(const Situation& now);

}  // namespace quorate::plan

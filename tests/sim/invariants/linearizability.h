#pragma once

#include <vector>

#include "tests/sim/clients.h"

namespace quorate::sim {

// Whether operations on one key could have happened one after the other, each
// between its call and its answer (Wing and Gong's search). Values that are
// written are unique. A write of unknown outcome may have happened at any time
// after its call, or never.
[[nodiscard]] bool is_linearizable(const std::vector<Operation>& operations);

}  // namespace quorate::sim

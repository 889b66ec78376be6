#pragma once

#include <optional>
#include <string>

#include "tests/sim/clients.h"

namespace quorate::sim {

// A revision that a client was shown although a later one had been shown before it asked: a
// sentence; nothing if there is none.
[[nodiscard]] std::optional<std::string> find_revision_going_back(const History& history);

}  // namespace quorate::sim

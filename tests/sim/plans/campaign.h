#pragma once

#include <string>
#include <vector>

#include "tests/sim/plans/runner.h"

namespace quorate::sim {

// Faults drawn by the seed from what the scenario allows.
[[nodiscard]] Plan draw_plan(const Scenario& scenario, std::uint64_t seed);

// Every side effect of a run without faults, and every moment of it: a crash
// before it, after it was carried out and before the answer, and after the
// answer; its request lost, its answer lost.
[[nodiscard]] std::vector<Plan> crash_plans(const Outcome& reference);
// The operator's view stands still from each side effect on, as behind a stale
// API server, while the replica is replaced; and events are withheld and then
// all come at once.
[[nodiscard]] std::vector<Plan> view_plans(const Outcome& reference);

// The smallest plan that still leads to the same violation: faults left out,
// then durations shortened. `runs` bounds the search.
[[nodiscard]] Plan minimise(Trial failing, const std::string& id, int runs = 60);

// What is needed to see it again.
[[nodiscard]] std::string render_replay(const Trial& trial);
[[nodiscard]] Result<Trial> parse_replay(std::string_view text);

}  // namespace quorate::sim

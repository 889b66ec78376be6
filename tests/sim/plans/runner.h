#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/faults/plan.h"
#include "tests/sim/invariants/invariant.h"
#include "tests/sim/museum/mutant.h"
#include "tests/sim/plans/scenario.h"

namespace quorate::sim {

// How often operators created and deleted each object: `POST pods c-0` -> 1.
using Counts = std::map<std::string, int>;

// One run, completely told.
struct Trial {
  const Scenario* scenario = nullptr;
  std::uint64_t seed = 1;
  Plan plan;
  const Mutant* mutant = nullptr;
  const Counts* reference = nullptr;    // what a run without faults created and deleted
  std::optional<Duration> length = {};  // another than the scenario's
};

struct Outcome {
  std::vector<Violation> violations;
  std::uint64_t steps = 0;
  Duration virtual_time{};
  std::uint64_t trace_hash = 0;
  std::vector<Fate::Effect> effects;
  Counts counts;
  std::uint64_t acknowledged = 0;
  Duration converged_after{};  // since all is calm
  std::map<FaultKind, int> injected;
  std::map<std::string, std::uint64_t> evaluations;

  [[nodiscard]] bool violates(std::string_view id) const;
};

// Runs it to its end: faults, calm, convergence, quiet. `tell` gets what is
// worth reading.
[[nodiscard]] Outcome run(const Trial& trial,
                          const std::function<void(std::string_view)>& tell = {});

// Whether the plan may destroy data, so that no more than freezing can be asked
// for.
[[nodiscard]] bool destroys(const Scenario& scenario, const Plan& plan);
// Whether the plan leaves everything but operators and their view of the world
// alone.
[[nodiscard]] bool only_operators(const Plan& plan);

}  // namespace quorate::sim

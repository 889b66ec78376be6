#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/faults/plan.h"
#include "tests/sim/invariants/invariant.h"
#include "tests/sim/museum/mutant.h"
#include "tests/sim/plans/operations.h"
#include "tests/sim/plans/scenario.h"

namespace quorate::sim {

// One run, completely told.
struct Trial {
  const Scenario* scenario = nullptr;
  std::uint64_t seed = 1;
  Plan plan;
  std::vector<Edit> edits = {};  // of the first cluster, in the order of their times
  const Mutant* mutant = nullptr;
  std::shared_ptr<const Counts> reference = {};  // what a run without faults created and deleted
  std::optional<Duration> length = {};           // another than the scenario's
  // The run is over as soon as one of these invariants is broken, or after so long, whatever else
  // might come.
  std::vector<std::string> ends_with = {};
  std::optional<Duration> ends_after = {};
};

struct Outcome {
  std::vector<Violation> violations;
  std::uint64_t steps = 0;
  Duration virtual_time{};
  // Of every step, every request to the API, every answer to a client and what is stored in the
  // end: equal for equal trials.
  std::uint64_t digest = 0;
  std::vector<Fate::Effect> effects;
  Counts counts;
  std::uint64_t acknowledged = 0;
  Duration converged_after{};  // since all is calm
  // What the user did, and what went on in the first cluster then.
  std::vector<std::pair<std::string, Activity>> deeds;
  std::map<FaultKind, int> injected;
  std::vector<Fate::Injection> injections;
  std::map<int, std::uint64_t> answers;  // of the API server to operators, by their status
  bool quiet = false;                    // it came to rest, and nothing was written then
  std::map<std::string, std::uint64_t> evaluations;
  std::map<std::string, std::uint64_t> edits;    // `replicas changed` -> how often accepted
  std::map<std::string, std::uint64_t> refused;  // likewise
  // Versions from which and to which a cluster was declared to go that had clients already.
  std::vector<std::pair<std::string, std::string>> versions;

  [[nodiscard]] const Violation* find_violation(std::string_view id) const;
  [[nodiscard]] bool violates(std::string_view id) const { return find_violation(id) != nullptr; }
};

// Gets what is worth reading, line by line.
using Tell = std::function<void(std::string_view)>;

// Runs it to its end: faults, calm, convergence, quiet. A broken invariant of the program itself (a
// CHECK) is a violation, too.
[[nodiscard]] Outcome run(const Trial& trial, const Tell& tell = {});

// Whether the plan may destroy data, so that no more than freezing can be asked
// for.
[[nodiscard]] bool destroys(const Scenario& scenario, const Plan& plan);
// Whether the plan leaves everything but operators and their view of the world
// alone.
[[nodiscard]] bool only_operators(const Plan& plan);

}  // namespace quorate::sim

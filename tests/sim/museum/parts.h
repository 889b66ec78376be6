#pragma once

#include <vector>

#include "tests/sim/museum/mutant.h"

// The museum's rooms, and what they are furnished with.
namespace quorate::sim {

[[nodiscard]] inline Fault fault(FaultKind kind, Duration at, int target = 0,
                                 Duration duration = {}) {
  Fault out;
  out.kind = kind;
  out.at = at;
  out.target = target;
  out.duration = duration;
  return out;
}

inline const Plan kNothing;

// What it says and what it does not bring about (museum_outcomes.cc).
[[nodiscard]] std::vector<Mutant> of_reports();
[[nodiscard]] std::vector<Mutant> of_progress();
// How it restarts members, and their certificates (museum_rolls.cc).
[[nodiscard]] std::vector<Mutant> of_rolls();
[[nodiscard]] std::vector<Mutant> of_certificates();
// When it restarts them (museum_updates.cc).
[[nodiscard]] std::vector<Mutant> of_updates();

}  // namespace quorate::sim

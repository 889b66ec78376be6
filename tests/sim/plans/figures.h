#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/plans/grid.h"
#include "tests/sim/plans/runner.h"

namespace quorate::sim {

// How a mutant ended.
struct Killed {
  std::string by;  // empty: it lives
  int runs = 0;    // until it was killed
  std::uint64_t steps = 0;
  std::size_t faults = 0;  // and edits, of the minimised trial

  // A plan of so many is small enough to be read.
  static constexpr std::size_t kFewFaults = 5;
  [[nodiscard]] bool is_told() const { return !by.empty() && faults <= kFewFaults; }
};

// What a whole session of runs amounts to.
class Figures {
 public:
  void add(const Trial& trial, const Outcome& outcome);
  enum class Plans { kCrash, kPairs, kStale, kUnobserved, kDelete };
  void add_plans(Plans kind, std::size_t enumerated, std::size_t executed);
  void add_determinism(bool equal);
  void add_mutant(const std::string& name, Killed killed);

  [[nodiscard]] std::string text(std::chrono::duration<double> wall) const;
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t violations() const { return violations_; }
  [[nodiscard]] std::uint64_t mismatches() const { return mismatches_; }
  // Everything that was enumerated was executed, and every mutant is dead, by a plan that can be
  // read.
  [[nodiscard]] bool complete() const;

 private:
  struct Done {
    std::size_t enumerated = 0;
    std::size_t executed = 0;
  };
  [[nodiscard]] std::string cells() const;
  [[nodiscard]] std::string properties() const;
  [[nodiscard]] std::string mutants() const;

  std::set<std::pair<std::string, std::uint64_t>> seeds_;
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
  Duration virtual_time_{};
  std::uint64_t acknowledged_ = 0;
  std::uint64_t effects_ = 0;
  std::map<std::string, std::uint64_t> scenarios_;
  std::map<FaultKind, std::uint64_t> faults_;
  std::set<std::pair<FaultKind, FaultKind>> pairs_;
  std::set<std::pair<std::string, FaultKind>> cells_;  // scenario, fault
  std::map<std::string, std::uint64_t> evaluations_;
  std::map<std::string, std::uint64_t> edits_, refused_;
  GridCoverage grid_;
  Duration slowest_{};  // from calm to what is declared
  std::uint64_t violations_ = 0;
  std::uint64_t time_outs_ = 0;
  std::map<Plans, Done> plans_;
  std::size_t determinism_ = 0, mismatches_ = 0;
  std::map<std::string, Killed> mutants_;
};

}  // namespace quorate::sim

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/plans/runner.h"

namespace quorate::sim {

// What a whole session of runs amounts to.
class Figures {
 public:
  void add(const Trial& trial, const Outcome& outcome);
  void add_crash_plans(std::size_t enumerated, std::size_t executed);
  void add_view_plans(std::size_t enumerated, std::size_t executed);
  void add_determinism(bool equal);
  void add_mutant(const std::string& name, int runs);  // 0 = it lived

  [[nodiscard]] std::string text(std::chrono::duration<double> wall) const;
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t violations() const { return violations_; }

 private:
  std::set<std::pair<std::string, std::uint64_t>> seeds_;
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
  Duration virtual_time_{};
  std::uint64_t acknowledged_ = 0;
  std::uint64_t effects_ = 0;
  std::map<std::string, std::uint64_t> scenarios_;
  std::map<FaultKind, std::uint64_t> faults_;
  std::map<std::string, std::uint64_t> evaluations_;
  std::uint64_t violations_ = 0;
  std::uint64_t time_outs_ = 0;
  std::size_t crash_enumerated_ = 0, crash_executed_ = 0;
  std::size_t view_enumerated_ = 0, view_executed_ = 0;
  std::size_t determinism_ = 0, mismatches_ = 0;
  std::map<std::string, int> mutants_;
};

}  // namespace quorate::sim

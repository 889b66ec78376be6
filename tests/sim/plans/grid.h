#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/plans/runner.h"

namespace quorate::sim {

// One moment of one operation, and what is to go wrong then: a row of the catalogue of faults
// (bootstrap, scaling, healing, rolling, deletion, the API, the operator, the platform).
struct Cell {
  std::string_view id;
  std::string_view says;
  // Whether the run was a case of it. Empty: no run can be, and `beyond` says why.
  std::function<bool(const Trial&, const Outcome&)> reached = {};
  std::string_view beyond = {};
};
[[nodiscard]] const std::vector<Cell>& grid();

// Which cells were reached by all runs together.
class GridCoverage {
 public:
  void add(const Trial& trial, const Outcome& outcome);
  // `105 of 115; not reached: B15, ...`
  [[nodiscard]] std::string text() const;

 private:
  std::set<std::string_view> reached_;
};

}  // namespace quorate::sim

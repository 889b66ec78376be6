#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/integration/slice_compare.h"
#include "tests/integration/slice_world.h"

// Operators that die between two of their writes, or are never told the answer to one.
//
// Every case has a namespace, a lease and operators of its own; they run side by side, because most
// of the time of a case is the new leader's wait for the old one's lease to end.
namespace quorate::slice {

struct CrashPlan {
  std::string spec = "{}";
  Look (*done)(const json::Value& cluster) = is_settled;
  // 1: the order of writes is the same every time, so that a crash is between two of them.
  std::size_t at_once = 1;
  std::size_t side_by_side = 12;
};

// What one case left.
struct Outcome {
  std::string fault;  // for messages
  bool struck = false;
  int processes = 0;
  std::vector<Write> writes;
  std::vector<std::string> denied;
  Snapshot all;
};

// Declares the cluster `c` and starts operators one after the other, as a Deployment would, until
// it is done. Without a fault: the reference. The cluster is deleted in the end.
Task<Result<Outcome>> run_case(World& world, CrashPlan plan, std::optional<Fault> fault);
Task<Result<std::vector<Outcome>>> run_cases(World& world, CrashPlan plan,
                                             std::vector<Fault> faults);

// The fault at each of these writes, which are those of an undisturbed run.
std::vector<Fault> faults_at(const std::vector<Write>& writes, Fault::Kind kind);

// What must be the same as without the fault.
std::map<std::string, std::string> comparable(const Outcome& outcome);

// Expects that the end is that of the reference, and that everything was made once. `faults` are
// those of the outcomes.
void expect_no_trace(const Outcome& reference, const std::vector<Fault>& faults,
                     const std::vector<Outcome>& outcomes);

}  // namespace quorate::slice

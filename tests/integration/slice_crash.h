#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/integration/slice_compare.h"
#include "tests/integration/slice_world.h"

// Operators that die between two of their writes, or are never told the answer to one.
//
// Every case has a namespace, a lease and operators of its own. A new process need not wait until
// the lease of a dead one has ended: the test knows that nothing of it is under way any more, and
// releases the lease in its name. (What leaders do who cannot know that: slice_lifecycle_test.cc.)
namespace quorate::slice {

struct CrashPlan {
  std::string spec = "{}";
  Look (*done)(const json::Value& cluster) = is_settled;
  // 1: the order of writes is the same every time, so that a crash is between two of them.
  std::size_t at_once = 1;
  std::size_t side_by_side = 4;
};

// What one case left.
struct Outcome {
  std::optional<Fault> fault;
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

// Whether objects are patched the same number of times in every run. Where members speak, what is
// known of them comes to light, and is written down, in one piece or in several.
enum class Patches { kAlike, kVary };

// Expects of every outcome that the end is that of the reference, down to the last field but one
// (slice_crash.cc), and that the way there was, too: whatever took effect took effect as often as
// in the reference, which is once for all that was created. How often status is written depends on
// what watches show first.
void expect_no_trace(const Outcome& reference, const std::vector<Outcome>& outcomes,
                     Patches patches = Patches::kAlike);

}  // namespace quorate::slice

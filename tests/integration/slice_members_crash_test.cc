#include <gmock/gmock.h>

#include "tests/integration/slice_crash.h"

// The operator dies while real members form a cluster: it forms all the same, once, and everything
// that is known of it is written down in the end.
namespace quorate::slice {
namespace {

using ::testing::IsEmpty;

class MembersCrash : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fabric_refusal().empty()) GTEST_SKIP() << "no fabric: " << fabric_refusal();
  }

  // The writes after all Pods were made: with those before, no etcd runs yet, and slice_crash_test
  // has them.
  static std::vector<Write> writes_after_pods(const std::vector<Write>& writes) {
    std::size_t last_pod = 0;
    for (std::size_t i = 0; i < writes.size(); ++i)
      if (writes[i].what.starts_with("POST pods ")) last_pod = i;
    return {writes.begin() + static_cast<std::ptrdiff_t>(last_pod) + 1, writes.end()};
  }

  // Where the operator dies: at the reference's writes after all Pods were made.
  static std::vector<Fault> crashes_at(const Outcome& reference, Fault::Kind kind) {
    const auto later = writes_after_pods(reference.writes).size();
    const auto all = faults_at(reference.writes, kind);
    return {all.end() - static_cast<std::ptrdiff_t>(later), all.end()};
  }

  static void try_all(const CrashPlan& plan, const std::vector<Fault::Kind>& kinds) {
    auto& world = World::with_nodes();
    const auto reference = world.run(run_case(world, plan, std::nullopt));
    std::vector<Fault> faults;
    for (const auto kind : kinds)
      for (auto& fault : crashes_at(reference, kind)) faults.push_back(std::move(fault));
    ASSERT_THAT(faults, ::testing::Not(IsEmpty()));
    expect_no_trace(reference, world.run(run_cases(world, plan, faults)), Patches::kVary);
  }
};

TEST_F(MembersCrash, AtAnyWriteWhileAClusterOfOneFormsLeavesNoTrace) {
  try_all({.spec = R"({"replicas": 1})", .done = is_ready, .side_by_side = 6},
          {Fault::Kind::kCrashBefore, Fault::Kind::kCrashAfter});
}

// Writes are made one at a time here, so a crash before a write leaves what a crash after the one
// before it leaves: one of the two is enough where members are many. (Both, and lost answers:
// the simulator's crash points, docs/simulator.md.)
TEST_F(MembersCrash, BetweenAnyTwoWritesWhileThreeFormLeavesNoTrace) {
  try_all({.done = is_ready, .side_by_side = 3}, {Fault::Kind::kCrashBefore});
}

}  // namespace
}  // namespace quorate::slice

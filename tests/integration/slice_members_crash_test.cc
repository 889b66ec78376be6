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

  // Both ways of dying at these of the reference's writes.
  static std::vector<Fault> crashes_at(const Outcome& reference,
                                       const std::function<bool(const Write&)>& wanted) {
    const auto later = writes_after_pods(reference.writes).size();
    std::vector<Fault> out;
    for (auto kind : {Fault::Kind::kCrashBefore, Fault::Kind::kCrashAfter}) {
      const auto all = faults_at(reference.writes, kind);
      for (auto i = all.size() - later; i < all.size(); ++i)
        if (wanted(reference.writes[i])) out.push_back(all[i]);
    }
    return out;
  }

  static void try_all(const CrashPlan& plan, const std::function<bool(const Write&)>& wanted) {
    auto& world = World::with_nodes();
    const auto reference = world.run(run_case(world, plan, std::nullopt));
    const auto faults = crashes_at(reference, wanted);
    ASSERT_THAT(faults, ::testing::Not(IsEmpty()));
    expect_no_trace(reference, world.run(run_cases(world, plan, faults)), Patches::kVary);
  }
};

TEST_F(MembersCrash, AtAnyWriteWhileAClusterOfOneFormsLeavesNoTrace) {
  try_all({.spec = R"({"replicas": 1})", .done = is_ready, .side_by_side = 6},
          [](const Write&) { return true; });
}

// Those of the member in the middle stand for all: before and after them, others know what it does
// not.
TEST_F(MembersCrash, AtAWriteForOneOfThreeMembersLeavesNoTrace) {
  try_all({.done = is_ready, .side_by_side = 3},
          [](const Write& write) { return write.what.ends_with("c-1") && !write.is_status(); });
}

}  // namespace
}  // namespace quorate::slice

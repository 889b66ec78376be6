#include "tests/integration/slice_crash.h"

// The operator dies between any two writes of a first reconcile, or is never told the answer to
// one: what comes out is what an undisturbed run makes, and nothing was made twice.
namespace quorate::slice {
namespace {

class Crash : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto& world = World::without_nodes();
    reference_ = new Outcome(world.run(run_case(world, {}, std::nullopt)));
  }
  static void TearDownTestSuite() {
    delete reference_;
    reference_ = nullptr;
  }

  static void try_at_every_write(Fault::Kind kind, std::size_t at_once) {
    auto& world = World::without_nodes();
    const auto faults = faults_at(reference_->writes, kind);
    expect_no_trace(*reference_, faults, world.run(run_cases(world, {.at_once = at_once}, faults)));
  }

  static Outcome* reference_;
};

Outcome* Crash::reference_ = nullptr;

TEST_F(Crash, BeforeAnyWriteIsSentLeavesNoTrace) {
  try_at_every_write(Fault::Kind::kCrashBefore, 1);
}

TEST_F(Crash, AfterAnyWriteWasTakenLeavesNoTrace) {
  try_at_every_write(Fault::Kind::kCrashAfter, 1);
}

TEST_F(Crash, TheAnswerToAnyWriteMayBeLost) { try_at_every_write(Fault::Kind::kLoseAnswer, 8); }

// The comparison above sees what it is meant to see.
TEST_F(Crash, TheComparisonNoticesADifference) {
  const auto expected = comparable(*reference_);
  EXPECT_EQ(expected.size(), 19U);  // the cluster, nine shared parts, three of each member
  EXPECT_EQ(find_difference(expected, comparable(*reference_)), "");
  for (const auto* path : {"/metadata/labels/quorate.io~1ordinal", "/spec/formation/number",
                           "/spec/volumeUID", "/spec/run"}) {
    auto changed = *reference_;
    auto& record = changed.all.at("EtcdMember c-1");
    ASSERT_NE(json::find(record, path), nullptr) << path << json::render(record);
    ASSERT_TRUE(json::put(record, path, "else"));
    EXPECT_NE(find_difference(expected, comparable(changed)), "") << path;
  }
  auto changed = *reference_;
  changed.all.at("Secret c-peer-tls").as_object()["data"] =
      changed.all.at("Secret c-server-tls").at("data");
  EXPECT_NE(find_difference(expected, comparable(changed)), "");
  changed = *reference_;
  changed.all.erase("Pod c-2");
  EXPECT_NE(find_difference(expected, comparable(changed)), "");
  changed = *reference_;
  changed.all["Pod c-3"] = changed.all.at("Pod c-2");
  EXPECT_NE(find_difference(expected, comparable(changed)), "");
}

}  // namespace
}  // namespace quorate::slice

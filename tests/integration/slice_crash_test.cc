#include "tests/integration/slice_crash.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include "api/names.h"

// The operator dies between any two writes of a first reconcile, or is never told the answer to
// one: what comes out is what an undisturbed run makes, and nothing took effect twice.
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
    ASSERT_GE(faults.size(), 22U);  // 18 objects, leave to run for three members, a status
    expect_no_trace(*reference_, world.run(run_cases(world, {.at_once = at_once}, faults)));
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

// Many writes at once, so that others are under way beside the one whose answer is lost.
TEST_F(Crash, TheAnswerToAnyWriteMayBeLost) { try_at_every_write(Fault::Kind::kLoseAnswer, 8); }

// ---- The expectations above see what they are meant to see ----

class CrashExpectations : public Crash {
 protected:
  // That an outcome like the reference, but for this change, is not let pass.
  static void expect_refused(const std::function<void(Outcome&)>& change,
                             const std::string& because) {
    Outcome outcome = *reference_;
    outcome.fault = Fault{Fault::Kind::kLoseAnswer, "POST services c", 0};
    outcome.struck = true;
    outcome.processes = 1;
    change(outcome);
    ::testing::TestPartResultArray failures;
    {
      ::testing::ScopedFakeTestPartResultReporter reporter(
          ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
      expect_no_trace(*reference_, {outcome});
    }
    std::string said;
    for (int i = 0; i < failures.size(); ++i) said += failures.GetTestPartResult(i).message();
    if (because.empty())
      EXPECT_EQ(said, "");
    else
      EXPECT_THAT(said, ::testing::HasSubstr(because));
  }
  static Write& find_write(Outcome& outcome, const std::string& what) {
    for (auto& write : outcome.writes)
      if (write.what == what) return write;
    throw support::FixtureError("no " + what);
  }
};

TEST_F(CrashExpectations, LetTheSameWayToTheSameEndPass) {
  expect_refused([](Outcome&) {}, "");
}

TEST_F(CrashExpectations, SeeAChangedField) {
  for (const auto* path : {"/metadata/labels/quorate.io~1ordinal", "/spec/formation/number",
                           "/spec/volumeUID", "/spec/run"}) {
    expect_refused(
        [&](Outcome& outcome) {
          auto& record = outcome.all.at("EtcdMember c-1");
          ASSERT_NE(json::find(record, path), nullptr) << path << json::render(record);
          ASSERT_TRUE(json::put(record, path, "else"));
        },
        "EtcdMember c-1: wanted");
  }
  const auto first = "/metadata/annotations/" + json::escape_pointer(api::kAnnotationFirstPod);
  expect_refused(
      [&](Outcome& outcome) { ASSERT_TRUE(json::remove(outcome.all.at("Pod c-1"), first)); },
      "Pod c-1: wanted");
  expect_refused(
      [](Outcome& outcome) {
        outcome.all.at("Secret c-peer-tls").as_object()["data"] =
            outcome.all.at("Secret c-server-tls").at("data");
      },
      "Secret c-peer-tls: wanted");
}

TEST_F(CrashExpectations, SeeAnObjectMoreOrLess) {
  expect_refused([](Outcome& outcome) { outcome.all.erase("Pod c-2"); }, "Pod c-2 is missing");
  expect_refused([](Outcome& outcome) { outcome.all["Pod c-3"] = outcome.all.at("Pod c-2"); },
                 "Pod c-3 is one too many");
}

TEST_F(CrashExpectations, SeeAnotherWayToTheSameEnd) {
  expect_refused(
      [](Outcome& outcome) {
        outcome.writes.push_back(find_write(outcome, "POST persistentvolumeclaims data-c-0"));
      },
      "POST persistentvolumeclaims data-c-0");
  expect_refused(
      [](Outcome& outcome) {
        auto write = find_write(outcome, "POST pods c-0");
        write.what = "DELETE pods c-0";
        outcome.writes.push_back(write);
      },
      "DELETE pods c-0");
  expect_refused([](Outcome& outcome) { find_write(outcome, "POST pods c-0").uid = "another"; },
                 "Pod c-0");
  expect_refused([](Outcome& outcome) { outcome.processes = 2; }, "outcome.processes");
  expect_refused([](Outcome& outcome) { outcome.struck = false; }, "outcome.struck");
  expect_refused([](Outcome& outcome) { outcome.denied.push_back("GET nodes: 403"); },
                 "outcome.denied");
}

}  // namespace
}  // namespace quorate::slice

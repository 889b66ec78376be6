#include "rt/group.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "rt/signal.h"
#include "rt/virtual_loop.h"

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;

class GroupTest : public testing::Test {
 protected:
  VirtualLoop loop_{1, VirtualLoop::Order::kFifo};
  Runtime runtime_ = loop_.actor("main");
};

Task<Result<int>> give_after(Runtime runtime, Duration delay, int value) {
  CO_TRY(co_await runtime.clock->sleep_until(runtime.clock->now() + delay));
  co_return value;
}

Task<void> sleep_note(Runtime runtime, Duration delay, std::string& note) {
  auto slept = co_await runtime.clock->sleep_until(runtime.clock->now() + delay);
  note = slept ? "slept" : slept.error().message();
}

Task<void> break_after(Runtime runtime, Duration delay) {
  (void)co_await runtime.clock->sleep_until(runtime.clock->now() + delay);
  CHECK(false, "on purpose");
}

TEST_F(GroupTest, CancelEndsItsFibersAndDropsNewOnesUnstarted) {
  TaskGroup group(runtime_);
  std::string first;
  std::string second;
  group.spawn("first", sleep_note(runtime_, 1h, first));
  loop_.run_for(1s);
  group.cancel();
  group.spawn("second", sleep_note(runtime_, 1h, second));
  loop_.run_until_idle();
  EXPECT_EQ(first, "cancelled");
  EXPECT_EQ(second, "");
  EXPECT_EQ(group.size(), 0u);
  EXPECT_EQ(runtime_.clock->now(), Monotonic(1s));
}

TEST_F(GroupTest, AFiberCancelledBeforeItBeganDoesNotRun) {
  TaskGroup group(runtime_);
  std::string note;
  group.spawn("a", sleep_note(runtime_, 1h, note));
  group.cancel();
  loop_.run_until_idle();
  EXPECT_EQ(note, "");
  EXPECT_EQ(group.size(), 0u);
}

TEST_F(GroupTest, ABrokenFiberIsReportedAndTheOthersGoOn) {
  std::vector<std::string> reports;
  TaskGroup group(runtime_, [&](const std::string& fiber, const std::string& what) {
    reports.push_back(fiber);
    EXPECT_NE(what.find("on purpose"), std::string::npos) << what;
  });
  std::string note;
  group.spawn("bad", break_after(runtime_, 1s));
  group.spawn("good", sleep_note(runtime_, 2s, note));
  loop_.run_until_idle();
  EXPECT_EQ(reports, (std::vector<std::string>{"bad"}));
  EXPECT_EQ(note, "slept");
}

TEST_F(GroupTest, ABrokenFiberWithoutAHandlerFailsTheRun) {
  TaskGroup group(runtime_);
  std::string note;
  group.spawn("good", sleep_note(runtime_, 2s, note));
  group.spawn("bad", break_after(runtime_, 1s));
  EXPECT_THROW(loop_.run_until_idle(), BrokenInvariant);
  EXPECT_EQ(group.size(), 0u) << "all was torn down";
}

Task<void> own_group(Runtime runtime, std::vector<std::string>& notes) {
  TaskGroup group(runtime);
  group.spawn("0", sleep_note(runtime, 1h, notes[0]));
  group.spawn("1", sleep_note(runtime, 2h, notes[1]));
  co_await group.join();
  notes[2] = "joined";
}

TEST_F(GroupTest, CancellingWhoJoinsCancelsTheGroupAndStillWaits) {
  std::vector<std::string> notes(3);
  TaskGroup outer(runtime_);
  outer.spawn("owner", own_group(runtime_, notes));
  loop_.run_for(1s);
  outer.cancel();
  loop_.run_until_idle();
  EXPECT_EQ(notes, (std::vector<std::string>{"cancelled", "cancelled", "joined"}));
  EXPECT_EQ(runtime_.clock->now(), Monotonic(1s));
}

Task<void> cancel_own_group(TaskGroup& group, Runtime runtime, std::string& note) {
  group.cancel();
  auto slept = co_await runtime.clock->sleep_until(runtime.clock->now() + 1s);
  note = slept ? "slept" : slept.error().message();
}

TEST_F(GroupTest, AFiberMayCancelTheGroupThatItIsIn) {
  TaskGroup group(runtime_);
  std::string note;
  group.spawn("self", cancel_own_group(group, runtime_, note));
  loop_.run_until_idle();
  EXPECT_EQ(note, "cancelled");
  EXPECT_EQ(group.size(), 0u);
}

TEST_F(GroupTest, JoinUntilLeavesTheFibersRunning) {
  TaskGroup group(runtime_);
  std::string note;
  group.spawn("a", sleep_note(runtime_, 10s, note));
  auto joined = loop_.run(group.join_until(runtime_.in(1s)));
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code(), Code::kTimeout);
  EXPECT_EQ(group.size(), 1u);
  EXPECT_TRUE(loop_.run(group.join_until(runtime_.in(1min))));
  EXPECT_EQ(note, "slept");
}

TEST_F(GroupTest, AGroupThatGoesWithFibersRunningEndsTheProgram) {
  EXPECT_DEATH(
      {
        std::string note;
        TaskGroup group(runtime_);
        group.spawn("forgotten", sleep_note(runtime_, 1s, note));
      },
      "fiber forgotten runs: join\\(\\) is missing");
}

TEST_F(GroupTest, WithDeadlineGivesTheValueOfWorkInTime) {
  auto value = loop_.run(with_deadline(runtime_, runtime_.in(2s), give_after(runtime_, 1s, 5)));
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 5);
  EXPECT_EQ(runtime_.clock->now(), Monotonic(1s));
}

TEST_F(GroupTest, WithDeadlineCancelsWorkThatIsLate) {
  auto value = loop_.run(with_deadline(runtime_, runtime_.in(1s), give_after(runtime_, 1h, 5)));
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), Code::kTimeout);
  EXPECT_EQ(runtime_.clock->now(), Monotonic(1s));
}

Task<Result<int>> fails() { co_return fail(Code::kConflict, "no"); }
Task<Result<int>> breaks(Runtime runtime) {
  co_await break_after(runtime, 1s);
  co_return 0;
}

TEST_F(GroupTest, WithDeadlineGivesTheErrorAndTheExceptionOfTheWork) {
  auto failed = loop_.run(with_deadline(runtime_, runtime_.in(1s), fails()));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::kConflict);
  EXPECT_THROW(loop_.run(with_deadline(runtime_, runtime_.in(1h), breaks(runtime_))),
               BrokenInvariant);
}

Task<void> nested_deadline(Runtime runtime, std::optional<Result<int>>& slot) {
  slot.emplace(co_await with_deadline(runtime, runtime.in(1h), give_after(runtime, 2h, 1)));
}

TEST_F(GroupTest, CancellationReachesThroughWithDeadline) {
  std::optional<Result<int>> slot;
  TaskGroup group(runtime_);
  group.spawn("a", nested_deadline(runtime_, slot));
  loop_.run_for(1s);
  group.cancel();
  loop_.run_until_idle();
  ASSERT_TRUE(slot && !*slot);
  EXPECT_EQ(slot->error().code(), Code::kCancelled);
  EXPECT_EQ(runtime_.clock->now(), Monotonic(1s));
}

Task<void> shielded_into(Runtime runtime, std::optional<Result<int>>& slot) {
  slot.emplace(co_await shielded(runtime, give_after(runtime, 10s, 3)));
}

TEST_F(GroupTest, ShieldedWorkIsCarriedThroughAfterCancellation) {
  std::optional<Result<int>> slot;
  TaskGroup group(runtime_);
  group.spawn("a", shielded_into(runtime_, slot));
  loop_.run_for(1s);
  group.cancel();
  loop_.run_until_idle();
  ASSERT_TRUE(slot && *slot);
  EXPECT_EQ(**slot, 3);
  EXPECT_EQ(runtime_.clock->now(), Monotonic(10s));
}

Task<Result<int>> measured(Runtime runtime, int value, int& running, int& most) {
  most = std::max(most, ++running);
  auto result = co_await give_after(runtime, (10 - value) * 1s, value);
  --running;
  co_return result;
}

TEST_F(GroupTest, AllKeepsTheOrderOfTheWorkAndTheBound) {
  int running = 0;
  int most = 0;
  std::vector<Task<Result<int>>> work;
  work.reserve(9);
  for (int i = 0; i < 9; ++i) work.push_back(measured(runtime_, i, running, most));
  auto results = loop_.run(all(runtime_, std::move(work), 4));
  ASSERT_EQ(results.size(), 9u);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].value(), i);
  EXPECT_EQ(most, 4);
}

TEST_F(GroupTest, AllOfNothingIsNothing) {
  EXPECT_TRUE(loop_.run(all(runtime_, std::vector<Task<Result<int>>>())).empty());
}

Task<void> all_into(Runtime runtime, std::vector<Result<int>>& results) {
  std::vector<Task<Result<int>>> work;
  work.reserve(3);
  for (int i = 0; i < 3; ++i) work.push_back(give_after(runtime, 1h, i));
  results = co_await all(runtime, std::move(work), 2);
}

TEST_F(GroupTest, CancellingWhoAwaitsAllCancelsEveryOne) {
  std::vector<Result<int>> results;
  TaskGroup group(runtime_);
  group.spawn("a", all_into(runtime_, results));
  loop_.run_for(1s);
  group.cancel();
  loop_.run_until_idle();
  ASSERT_EQ(results.size(), 3u);
  for (auto& result : results) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), Code::kCancelled);
  }
  EXPECT_EQ(runtime_.clock->now(), Monotonic(1s));
}

TEST_F(GroupTest, AllThrowsWhatBrokeAfterTheRestHasEnded) {
  int running = 0;
  int most = 0;
  std::vector<Task<Result<int>>> work;
  work.push_back(measured(runtime_, 1, running, most));
  work.push_back(breaks(runtime_));
  work.push_back(measured(runtime_, 2, running, most));
  EXPECT_THROW(loop_.run(all(runtime_, std::move(work), 2)), BrokenInvariant);
  EXPECT_EQ(running, 0);
  EXPECT_EQ(most, 1) << "no more is begun after a break";
}

}  // namespace
}  // namespace quorate::rt

#include "rt/signal.h"

#include <gtest/gtest.h>

#include "rt/virtual_loop.h"

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;

std::string outcome(const Result<void>& result) {
  return result ? "ok" : std::string(name(result.error().code()));
}

Task<void> wait_and_note(Signal& signal, Deadline deadline, std::vector<std::string>& notes) {
  auto result = co_await signal.wait(deadline);
  notes.push_back(outcome(result));
}

class SignalTest : public testing::Test {
 protected:
  VirtualLoop loop_{1, VirtualLoop::Order::kFifo};
  Runtime runtime_ = loop_.actor("test");
  std::vector<std::string> notes_;

  // Lets everything run that is ready, without moving the clock.
  void settle() { loop_.run_for(Duration(0)); }
};

TEST_F(SignalTest, NotifyWakesAllWhoWaitAndNobodyLater) {
  Signal signal(runtime_);
  TaskGroup group(runtime_);
  group.spawn("a", wait_and_note(signal, Deadline::never(), notes_));
  group.spawn("b", wait_and_note(signal, Deadline::never(), notes_));
  settle();
  signal.notify();
  EXPECT_TRUE(notes_.empty()) << "they run later, not inside notify()";
  group.spawn("late", wait_and_note(signal, runtime_.in(1s), notes_));
  settle();
  EXPECT_EQ(notes_, (std::vector<std::string>{"ok", "ok"}));
  loop_.run_until_idle();
  EXPECT_EQ(notes_, (std::vector<std::string>{"ok", "ok", "timeout"}));
}

TEST_F(SignalTest, NotifyOneWakesTheOneWhoWaitedLongest) {
  Signal signal(runtime_);
  TaskGroup group(runtime_);
  group.spawn("first", wait_and_note(signal, runtime_.in(2s), notes_));
  group.spawn("second", wait_and_note(signal, runtime_.in(1s), notes_));
  settle();
  signal.notify_one();
  loop_.run_until_idle();
  EXPECT_EQ(notes_, (std::vector<std::string>{"ok", "timeout"}));
}

TEST_F(SignalTest, AWakeUpGivenToACancelledFiberGoesToTheNext) {
  Signal signal(runtime_);
  TaskGroup group(runtime_);
  TaskGroup others(runtime_);
  group.spawn("chosen", wait_and_note(signal, Deadline::never(), notes_));
  settle();
  others.spawn("next", wait_and_note(signal, Deadline::never(), notes_));
  settle();
  signal.notify_one();
  group.cancel();  // after the choice, before the chosen one has run
  loop_.run_until_idle();
  EXPECT_EQ(notes_, (std::vector<std::string>{"cancelled", "ok"}));
}

TEST_F(SignalTest, AWakeUpGivenToACrashedActorGoesToTheNext) {
  Signal signal(runtime_);
  auto group = std::make_unique<TaskGroup>(loop_.actor("victim"));
  TaskGroup others(runtime_);
  group->spawn("chosen", wait_and_note(signal, Deadline::never(), notes_));
  settle();
  others.spawn("next", wait_and_note(signal, Deadline::never(), notes_));
  settle();
  signal.notify_one();
  loop_.crash("victim");
  loop_.run_until_idle();
  EXPECT_EQ(notes_, (std::vector<std::string>{"ok"}));
}

TEST_F(SignalTest, TheDeadlineEndsAWaitAndItsTimeIsExact) {
  Signal signal(runtime_);
  TaskGroup group(runtime_);
  group.spawn("a", wait_and_note(signal, runtime_.in(1500ms), notes_));
  loop_.run_until_idle();
  EXPECT_EQ(notes_, (std::vector<std::string>{"timeout"}));
  EXPECT_EQ(runtime_.clock->now(), Monotonic(1500ms));
}

TEST_F(SignalTest, ADeadlineThatHasPassedStillGivesTheOthersATurn) {
  Signal signal(runtime_);
  TaskGroup group(runtime_);
  group.spawn("a", wait_and_note(signal, Deadline{Monotonic::min()}, notes_));
  loop_.run_until_idle();
  EXPECT_EQ(notes_, (std::vector<std::string>{"timeout"}));
  EXPECT_EQ(runtime_.clock->now(), Monotonic());
}

TEST_F(SignalTest, OfNotificationAndCancellationAtOnceCancellationWins) {
  Signal signal(runtime_);
  TaskGroup group(runtime_);
  group.spawn("a", wait_and_note(signal, Deadline::never(), notes_));
  settle();
  signal.notify();
  group.cancel();
  loop_.run_until_idle();
  EXPECT_EQ(notes_, (std::vector<std::string>{"cancelled"}));
}

Task<void> wait_twice(Signal& signal, std::vector<std::string>& notes) {
  for (int i = 0; i < 2; ++i) {
    auto result = co_await signal.wait(Deadline::never());
    notes.push_back(outcome(result));
  }
}

TEST_F(SignalTest, EveryWaitAfterCancellationFails) {
  Signal signal(runtime_);
  TaskGroup group(runtime_);
  group.spawn("a", wait_twice(signal, notes_));
  settle();
  group.cancel();
  settle();
  EXPECT_EQ(notes_, (std::vector<std::string>{"cancelled", "cancelled"}));
}

TEST_F(SignalTest, WhoWaitsForASignalThatGoesIsLeftToItsDeadline) {
  auto signal = std::make_unique<Signal>(runtime_);
  TaskGroup group(runtime_);
  group.spawn("a", wait_and_note(*signal, runtime_.in(1s), notes_));
  settle();
  signal.reset();
  loop_.run_until_idle();
  EXPECT_EQ(notes_, (std::vector<std::string>{"timeout"}));
}

Task<void> produce(Channel<int>& channel, int count, std::size_t& most_queued) {
  for (int i = 0; i < count; ++i) {
    auto sent = co_await channel.send(i, Deadline::never());
    EXPECT_TRUE(sent);
    most_queued = std::max(most_queued, channel.size());
  }
  channel.close();
}

Task<void> consume(Channel<int>& channel, std::vector<int>& got) {
  for (;;) {
    auto value = co_await channel.receive(Deadline::never());
    if (!value || !*value) co_return;
    got.push_back(**value);
  }
}

TEST_F(SignalTest, AChannelKeepsOrderAndItsBound) {
  Channel<int> channel(runtime_, 3);
  std::vector<int> got;
  std::size_t most_queued = 0;
  TaskGroup group(runtime_);
  group.spawn("produce", produce(channel, 20, most_queued));
  group.spawn("consume", consume(channel, got));
  loop_.run_until_idle();
  ASSERT_EQ(got.size(), 20u);
  EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
  EXPECT_EQ(most_queued, 3u);
  EXPECT_EQ(group.size(), 0u);
}

Task<void> send_one(Channel<int>& channel, std::vector<std::string>& notes) {
  notes.push_back(outcome(co_await channel.send(7, Deadline::never())));
}

TEST_F(SignalTest, AClosedChannelRefusesButIsDrained) {
  Channel<int> channel(runtime_, 1);
  EXPECT_TRUE(channel.try_send(1));
  EXPECT_FALSE(channel.try_send(2)) << "full";
  TaskGroup group(runtime_);
  group.spawn("waits for room", send_one(channel, notes_));
  settle();
  channel.close();
  std::vector<int> got;
  group.spawn("consume", consume(channel, got));
  loop_.run_until_idle();
  EXPECT_EQ(notes_, (std::vector<std::string>{"unavailable"}));
  EXPECT_EQ(got, (std::vector<int>{1}));
  EXPECT_FALSE(channel.try_send(3));
}

Task<void> hold_place(Runtime runtime, Semaphore& semaphore, int& inside, int& most) {
  auto place = co_await semaphore.enter(Deadline::never());
  if (!place) co_return;
  most = std::max(most, ++inside);
  (void)co_await runtime.clock->sleep_until(runtime.clock->now() + 10ms);
  --inside;
}

TEST_F(SignalTest, ASemaphoreBoundsHowManyAreInside) {
  Semaphore semaphore(runtime_, 3);
  int inside = 0;
  int most = 0;
  TaskGroup group(runtime_);
  for (int i = 0; i < 10; ++i) group.spawn("holder", hold_place(runtime_, semaphore, inside, most));
  loop_.run_until_idle();
  EXPECT_EQ(most, 3);
  EXPECT_EQ(group.size(), 0u) << "everyone got in";
  EXPECT_EQ(runtime_.clock->now(), Monotonic(40ms));
}

}  // namespace
}  // namespace quorate::rt

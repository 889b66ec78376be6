#include "rt/loop.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/check.h"
#include "rt/signal.h"

namespace asio = boost::asio;

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;

Task<int> answer() { co_return 42; }
Task<void> break_down() {
  CHECK(false, "on purpose");
  co_return;
}

TEST(Loop, RunsWorkToItsEndAndGivesItsValue) {
  Loop loop;
  EXPECT_EQ(loop.run(answer()), 42);
  EXPECT_EQ(loop.run(answer()), 42);
}

TEST(Loop, LetsTheExceptionsOfItsWorkOut) {
  Loop loop;
  EXPECT_THROW(loop.run(break_down()), BrokenInvariant);
  EXPECT_EQ(loop.run(answer()), 42);
}

Task<void> sleeps_at_least(Runtime runtime) {
  auto before = runtime.clock->now();
  EXPECT_TRUE(co_await runtime.clock->sleep_until(before + 20ms));
  EXPECT_GE(runtime.clock->now(), before + 20ms);
}

TEST(Loop, SleepsUntilTheTimeAsked) {
  Loop loop;
  loop.run(sleeps_at_least(loop.runtime()));
}

Task<void> note_after(Runtime runtime, Duration delay, std::vector<int>& notes, int note) {
  if (!co_await runtime.clock->sleep_until(runtime.clock->now() + delay)) co_return;
  notes.push_back(note);
}

Task<void> three_sleepers(Runtime runtime, std::vector<int>& notes) {
  TaskGroup group(runtime);
  group.spawn("c", note_after(runtime, 30ms, notes, 3));
  group.spawn("a", note_after(runtime, 10ms, notes, 1));
  group.spawn("b", note_after(runtime, 20ms, notes, 2));
  EXPECT_TRUE(notes.empty()) << "spawn must not run work inside the call";
  EXPECT_EQ(group.size(), 3u);
  co_await group.join();
  EXPECT_EQ(group.size(), 0u);
}

TEST(Loop, WakesSleepersInTheOrderOfTheirTimes) {
  Loop loop;
  std::vector<int> notes;
  loop.run(three_sleepers(loop.runtime(), notes));
  EXPECT_EQ(notes, (std::vector<int>{1, 2, 3}));
}

// A socket of Asio inside a fiber: cancelling the group ends the read.
Task<void> read_one(asio::local::stream_protocol::socket& socket, std::vector<std::string>& log) {
  char byte = 0;
  auto [error, size] =
      co_await socket.async_read_some(asio::buffer(&byte, 1), asio::as_tuple(asio::use_awaitable));
  log.push_back(error ? "error " + std::to_string(error == asio::error::operation_aborted)
                      : "read " + std::string(1, byte));
  auto told = co_await check_cancelled();
  log.push_back(told ? "go on" : "stop");
}

Task<void> reads_then_is_cancelled(Runtime runtime, std::vector<std::string>& log) {
  asio::local::stream_protocol::socket here(runtime.executor);
  asio::local::stream_protocol::socket there(runtime.executor);
  asio::local::connect_pair(here, there);
  TaskGroup group(runtime);
  group.spawn("first", read_one(here, log));
  there.write_some(asio::buffer("x", 1));
  co_await group.join();
  group.spawn("second", read_one(here, log));
  (void)co_await yield(runtime);
  (void)co_await yield(runtime);
  group.cancel();
  co_await group.join();
}

TEST(Loop, CancellingAGroupInterruptsAnAsioOperation) {
  Loop loop;
  std::vector<std::string> log;
  loop.run(reads_then_is_cancelled(loop.runtime(), log));
  EXPECT_EQ(log, (std::vector<std::string>{"read x", "go on", "error 1", "stop"}));
}

Task<void> raise_soon(Runtime runtime, int number) {
  (void)co_await yield(runtime);
  (void)co_await yield(runtime);
  raise(number);
}

Task<Result<int>> wait_for_own_signal(Loop& loop) {
  TaskGroup group(loop.runtime());
  group.spawn("raise", raise_soon(loop.runtime(), SIGUSR1));
  auto number = co_await loop.wait_for_signal({SIGUSR1, SIGUSR2});
  co_await group.join();
  co_return number;
}

TEST(Loop, WaitsForASignal) {
  Loop loop;
  auto number = loop.run(wait_for_own_signal(loop));
  ASSERT_TRUE(number);
  EXPECT_EQ(*number, SIGUSR1);
}

Task<void> wait_for_signal_into(Loop& loop, std::optional<Result<int>>& slot) {
  slot.emplace(co_await loop.wait_for_signal({SIGUSR1}));
}

Task<void> cancel_the_wait(Loop& loop, std::optional<Result<int>>& slot) {
  TaskGroup group(loop.runtime());
  group.spawn("wait", wait_for_signal_into(loop, slot));
  (void)co_await yield(loop.runtime());
  (void)co_await yield(loop.runtime());
  group.cancel();
  co_await group.join();
}

TEST(Loop, AWaitForASignalCanBeCancelled) {
  Loop loop;
  std::optional<Result<int>> slot;
  loop.run(cancel_the_wait(loop, slot));
  ASSERT_TRUE(slot && !*slot);
  EXPECT_EQ(slot->error().code(), Code::kCancelled);
}

Task<void> wait_for_ever(Signal& signal, bool& destroyed) {
  struct Note {
    bool& set;
    ~Note() { set = true; }
  } note{destroyed};
  (void)co_await signal.wait(Deadline::never());
}

Task<void> break_in_a_group(Runtime runtime, bool& destroyed) {
  Signal signal(runtime);
  TaskGroup group(runtime);
  group.spawn("left behind", wait_for_ever(signal, destroyed));
  group.spawn("breaks", break_down());
  co_await group.join();
}

TEST(Loop, ABrokenFiberOfAGroupWithoutHandlerStopsTheLoop) {
  bool destroyed = false;
  {
    Loop loop;
    EXPECT_THROW(loop.run(break_in_a_group(loop.runtime(), destroyed)), BrokenInvariant);
    EXPECT_THROW(loop.run(answer()), BrokenInvariant) << "a loop that broke is not used again";
    EXPECT_FALSE(destroyed);
  }
  EXPECT_TRUE(destroyed) << "frames left behind are destroyed with the loop";
}

}  // namespace
}  // namespace quorate::rt

#include "rt/cpu_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "rt/group.h"
#include "rt/loop.h"
#include "rt/virtual_loop.h"

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;

Task<Result<std::uint64_t>> sum_up(CpuPool& pool, std::uint64_t count) {
  co_return co_await pool.run([count] {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 1; i <= count; ++i) sum += i;
    return sum;
  });
}

TEST(CpuPool, GivesTheValuesOfManyPiecesOfWork) {
  Loop loop;
  CpuPool pool(loop.runtime(), 3);
  std::vector<Task<Result<std::uint64_t>>> work;
  for (std::uint64_t i = 0; i < 200; ++i) work.push_back(sum_up(pool, i));
  auto results = loop.run(all(loop.runtime(), std::move(work), 50));
  ASSERT_EQ(results.size(), 200u);
  for (std::uint64_t i = 0; i < 200; ++i) EXPECT_EQ(results[i].value(), i * (i + 1) / 2);
}

Task<Result<std::thread::id>> which_thread(CpuPool& pool) {
  co_return co_await pool.run([] { return std::this_thread::get_id(); });
}

TEST(CpuPool, WorksOnAnotherThreadAndComesBack) {
  Loop loop;
  CpuPool pool(loop.runtime(), 1);
  auto id = loop.run(which_thread(pool));
  ASSERT_TRUE(id);
  EXPECT_NE(*id, std::this_thread::get_id());
}

TEST(CpuPool, WorksInlineInVirtualTime) {
  VirtualLoop loop(1);
  CpuPool pool(loop.actor("main"), 1);
  auto id = loop.run(which_thread(pool));
  ASSERT_TRUE(id);
  EXPECT_EQ(*id, std::this_thread::get_id());
}

Task<Result<int>> give_result(CpuPool& pool) {
  co_return co_await pool.run([]() -> Result<int> { return fail(Code::kCorrupt, "bad bytes"); });
}
Task<Result<void>> give_exception(CpuPool& pool) {
  co_return co_await pool.run([] { throw std::runtime_error("thrown in the pool"); });
}

TEST(CpuPool, PassesErrorsOnAndMakesExceptionsInternal) {
  Loop loop;
  CpuPool pool(loop.runtime(), 1);
  auto result = loop.run(give_result(pool));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kCorrupt);
  auto thrown = loop.run(give_exception(pool));
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().code(), Code::kInternal);
  EXPECT_EQ(thrown.error().message(), "thrown in the pool");
}

// Work that holds the only thread of the pool until the test lets it go.
struct Gate {
  std::latch begun{1};
  std::latch may_end{1};
  std::atomic<bool> ended = false;
};

Task<void> hold_thread(CpuPool& pool, Gate& gate, std::string& note) {
  auto result = co_await pool.run([&gate] {
    gate.begun.count_down();
    gate.may_end.wait();
    gate.ended = true;
  });
  note = result ? "ran" : result.error().message();
  EXPECT_TRUE(gate.ended) << "begun work is waited for";
}

Task<void> never_begin(CpuPool& pool, std::atomic<bool>& ran, std::string& note) {
  auto result = co_await pool.run([&ran] { ran = true; });
  note = result ? "ran" : result.error().message();
}

Task<void> cancel_in_work(Runtime runtime, CpuPool& pool, std::string& held, std::string& queued) {
  Gate gate;
  std::atomic<bool> ran = false;
  TaskGroup group(runtime);
  group.spawn("held", hold_thread(pool, gate, held));
  group.spawn("queued", never_begin(pool, ran, queued));
  while (!gate.begun.try_wait()) (void)co_await yield(runtime);
  group.cancel();
  while (group.size() > 1) (void)co_await yield(runtime);
  EXPECT_EQ(queued, "cancelled") << "does not wait for the thread";
  EXPECT_EQ(held, "");
  gate.may_end.count_down();
  co_await group.join();
  EXPECT_FALSE(ran);
}

TEST(CpuPool, CancellationDropsWhatHasNotBegunAndWaitsForWhatHas) {
  Loop loop;
  CpuPool pool(loop.runtime(), 1);
  std::string held;
  std::string queued;
  loop.run(cancel_in_work(loop.runtime(), pool, held, queued));
  EXPECT_EQ(held, "cancelled");
}

TEST(CpuPool, StopsCleanlyWithoutWork) {
  Loop loop;
  CpuPool pool(loop.runtime(), 4);
}

}  // namespace
}  // namespace quorate::rt

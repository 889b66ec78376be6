#include "kube/budget.h"

#include <gtest/gtest.h>

#include <vector>

#include "rt/group.h"
#include "rt/virtual_loop.h"

namespace quorate::kube {
namespace {

using namespace std::chrono_literals;

Task<void> take_many(rt::Runtime runtime, Budget& budget, int count, std::vector<Duration>& times) {
  for (int i = 0; i < count; ++i) {
    auto taken = co_await budget.take(rt::Deadline::never());
    EXPECT_TRUE(taken);
    times.push_back(runtime.clock->now().time_since_epoch());
  }
}

TEST(Budget, GivesTheBurstAtOnceAndThenOneByOne) {
  rt::VirtualLoop loop(1);
  const auto here = loop.actor("main");
  Budget budget(here, {10, 3});
  std::vector<Duration> times;
  loop.run(take_many(here, budget, 5, times));
  EXPECT_EQ(times, (std::vector<Duration>{0ms, 0ms, 0ms, 100ms, 200ms}));
}

TEST(Budget, FillsUpAgainWhileNobodyAsks) {
  rt::VirtualLoop loop(1);
  const auto here = loop.actor("main");
  Budget budget(here, {10, 3});
  std::vector<Duration> times;
  loop.run(take_many(here, budget, 3, times));
  loop.run_for(1h);
  times.clear();
  loop.run(take_many(here, budget, 4, times));
  EXPECT_EQ(times, (std::vector<Duration>{1h, 1h, 1h, 1h + 100ms}));
}

TEST(Budget, RefusesAtOnceWhatTheDeadlineWouldNotSee) {
  rt::VirtualLoop loop(1);
  const auto here = loop.actor("main");
  Budget budget(here, {1, 1});
  EXPECT_TRUE(loop.run(budget.take(here.in(0s))));
  auto refused = loop.run(budget.take(here.in(500ms)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kThrottled);
  EXPECT_EQ(here.clock->now(), Monotonic{});
  // The refused one took nothing: the next still waits one second, not two.
  EXPECT_TRUE(loop.run(budget.take(here.in(1s))));
  EXPECT_EQ(here.clock->now(), Monotonic{} + 1s);
}

TEST(Budget, WithoutALimitNeverWaits) {
  rt::VirtualLoop loop(1);
  const auto here = loop.actor("main");
  Budget budget(here, {});
  std::vector<Duration> times;
  loop.run(take_many(here, budget, 1000, times));
  EXPECT_EQ(times.back(), 0ms);
}

}  // namespace
}  // namespace quorate::kube

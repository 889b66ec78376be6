#include "rt/backoff.h"

#include <gtest/gtest.h>

#include "rt/virtual_loop.h"

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesUpToTheCeilingAndStartsAnew) {
  VirtualLoop loop(1);
  Random& random = *loop.actor("a").random;
  Backoff backoff(BackoffPolicy{100ms, 1s, 0});
  std::vector<Duration> delays(6);
  for (Duration& delay : delays) delay = backoff.next(random);
  EXPECT_EQ(delays, (std::vector<Duration>{100ms, 200ms, 400ms, 800ms, 1s, 1s}));
  backoff.reset();
  EXPECT_EQ(backoff.next(random), 100ms);
}

TEST(Backoff, ScattersWithinItsShareAndBelowTheCeiling) {
  VirtualLoop loop(1);
  Random& random = *loop.actor("a").random;
  BackoffPolicy policy{100ms, 400ms, 0.2};
  Duration least = 1h;
  Duration most{};
  for (int i = 0; i < 1000; ++i) {
    Duration delay = policy.delay(2, random);
    least = std::min(least, delay);
    most = std::max(most, delay);
    EXPECT_LE(policy.delay(9, random), 400ms);
  }
  EXPECT_GE(least, 160ms);
  EXPECT_LE(most, 240ms);
  EXPECT_LT(least, 165ms) << "the whole range is used";
  EXPECT_GT(most, 235ms);
}

TEST(Backoff, DoesNotOverflowAfterManyFailures) {
  VirtualLoop loop(1);
  BackoffPolicy policy{1s, Duration::max(), 0.5};
  EXPECT_GT(policy.delay(1'000'000, *loop.actor("a").random), 1h);
}

}  // namespace
}  // namespace quorate::rt

#include "rt/clock.h"

#include <gtest/gtest.h>

#include <array>

#include "base/check.h"
#include "rt/loop.h"
#include "rt/virtual_loop.h"

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;

TEST(Deadline, AnEndlessDelayMeansNever) {
  VirtualLoop loop(1);
  Runtime runtime = loop.actor("a");
  loop.run_for(1s);
  EXPECT_EQ(runtime.in(Duration::max()).at, Deadline::never().at);
  EXPECT_EQ(runtime.in(1s).at, Monotonic(2s));
  EXPECT_FALSE(runtime.in(1s).passed(*runtime.clock));
  EXPECT_TRUE(runtime.in(0s).passed(*runtime.clock));
  EXPECT_EQ(runtime.in(5s).sooner(runtime.in(3s)).at, Monotonic(4s));
}

// Draws what it is told to.
class FixedRandom : public Random {
 public:
  explicit FixedRandom(std::vector<std::uint64_t> values) : values_(std::move(values)) {}
  std::uint64_t next() override { return values_.at(used_++); }

 private:
  std::vector<std::uint64_t> values_;
  std::size_t used_ = 0;
};

TEST(Random, BelowDrawsAgainWhereSmallResultsWouldBeLikelier) {
  // 2^64 mod 3 = 1: of all values one is too many, and it is the first.
  FixedRandom random({0, 7});
  EXPECT_EQ(random.below(3), 1u);
  EXPECT_THROW(random.below(0), BrokenInvariant);
}

TEST(Random, BelowReachesEveryValueAboutEquallyOften) {
  VirtualLoop loop(1);
  Random& random = *loop.actor("a").random;
  std::array<int, 10> counts{};
  for (int i = 0; i < 10'000; ++i) ++counts.at(random.below(10));
  for (int count : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(Random, JitterStaysInItsRange) {
  FixedRandom random({0, ~0ULL, 1ULL << 63, 5});
  EXPECT_EQ(random.jitter(1s, 0.25), 750ms);
  EXPECT_NEAR(static_cast<double>(random.jitter(1s, 0.25).count()), 1.25e9, 1e3);
  EXPECT_EQ(random.jitter(1s, 0.25), 1s);
  EXPECT_EQ(random.jitter(1s, 0), 1s);
}

TEST(Random, TheMachineDrawsOtherValuesEachTime) {
  Loop loop;
  Random& random = *loop.runtime().random;
  std::set<std::uint64_t> values;
  for (int i = 0; i < 1000; ++i) values.insert(random.next());
  EXPECT_EQ(values.size(), 1000u);
}

}  // namespace
}  // namespace quorate::rt

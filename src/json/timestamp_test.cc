#include "json/timestamp.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace quorate::json {
namespace {

using namespace std::chrono;

constexpr WallTime kTime = sys_days(2026y / January / 2) + 15h + 4min + 5s;

TEST(Time, ReadsAnyOffsetAndPrecision) {
  EXPECT_EQ(*parse_time("2026-01-02T15:04:05Z"), kTime);
  EXPECT_EQ(*parse_time("2026-01-02T16:34:05+01:30"), kTime);
  EXPECT_EQ(*parse_time("2026-01-01T23:04:05-16:00"), kTime);
  EXPECT_EQ(*parse_time("2026-01-02T15:04:05.678Z"), kTime + 678ms);
  EXPECT_EQ(*parse_time("2026-01-02T15:04:05.6789999Z"), kTime + 678ms);
  EXPECT_EQ(*parse_micro_time("2026-01-02T15:04:05.678901234Z"), MicroTime(kTime) + 678901us);
  EXPECT_EQ(*parse_micro_time("2026-01-02T15:04:05.000001+00:00"), MicroTime(kTime) + 1us);
  EXPECT_EQ(*parse_time("2016-12-31T23:59:60Z"), WallTime(sys_days(2017y / January / 1)));
  EXPECT_EQ(*parse_time("1969-12-31T23:59:59.5Z"), WallTime(-500ms));
}

TEST(Time, WritesAsKubernetesDoes) {
  EXPECT_EQ(render_time(kTime + 999ms), "2026-01-02T15:04:05Z");
  EXPECT_EQ(render_micro_time(kTime), "2026-01-02T15:04:05.000000Z");
  EXPECT_EQ(render_micro_time(MicroTime(kTime) + 42us), "2026-01-02T15:04:05.000042Z");
  EXPECT_EQ(render_time(WallTime(-1ms)), "1969-12-31T23:59:59Z");
}

TEST(Time, RefusesWhatIsNoTime) {
  for (std::string_view text :
       {"", "2026-01-02", "2026-01-02T15:04:05", "2026-01-02 15:04:05Z", "2026-1-2T15:04:05Z",
        "2026-02-30T15:04:05Z", "2026-13-01T15:04:05Z", "2026-00-01T15:04:05Z",
        "2026-01-02T24:00:00Z", "2026-01-02T15:60:05Z", "2026-01-02T15:04:61Z",
        "2026-01-02T15:04:05.Z", "2026-01-02T15:04:05+0100", "2026-01-02T15:04:05+25:00",
        "2026-01-02T15:04:05Zx", "x2026-01-02T15:04:05Z", "-026-01-02T15:04:05Z"}) {
    const auto time = parse_time(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code(), Code::kInvalid);
  }
}

RC_GTEST_PROP(Time, KeepsItsValueThroughItsText, ()) {
  // 0000-01-01 to 9999-12-31, in microseconds
  const auto micros =
      *rc::gen::inRange<std::int64_t>(-62'167'219'200'000'000, 253'402'300'799'999'999);
  const MicroTime time{microseconds(micros)};
  RC_ASSERT(*parse_micro_time(render_micro_time(time)) == time);
  const auto wall = floor<milliseconds>(time);
  RC_ASSERT(*parse_time(render_time(wall)) == floor<seconds>(wall));
}

}  // namespace
}  // namespace quorate::json

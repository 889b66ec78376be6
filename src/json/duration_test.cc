#include "json/duration.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace quorate::json {
namespace {

using namespace std::chrono_literals;

// What Go's time.ParseDuration and Duration.String make of a text.
struct Known {
  std::string_view text;
  std::int64_t nanos;
  std::string_view canonical;
};

constexpr Known kKnown[] = {
    {"0", 0, "0s"},
    {"1s", 1000000000, "1s"},
    {"5m", 300000000000, "5m0s"},
    {"1h30m", 5400000000000, "1h30m0s"},
    {"1.5s", 1500000000, "1.5s"},
    {"300ms", 300000000, "300ms"},
    {"1h", 3600000000000, "1h0m0s"},
    {"-2m", -120000000000, "-2m0s"},
    {"+5s", 5000000000, "5s"},
    {"1us", 1000, "1\302\265s"},
    {"1\302\265s", 1000, "1\302\265s"},
    {"1\316\274s", 1000, "1\302\265s"},
    {"100ns", 100, "100ns"},
    {"1h1m1s", 3661000000000, "1h1m1s"},
    {"1.5h", 5400000000000, "1h30m0s"},
    {"0.5m", 30000000000, "30s"},
    {".5s", 500000000, "500ms"},
    {"1.s", 1000000000, "1s"},
    {"2562047h47m16.854775807s", 9223372036854775807, "2562047h47m16.854775807s"},
    {"-2562047h47m16.854775808s", INT64_MIN, "-2562047h47m16.854775808s"},
    {"9223372036854775807ns", 9223372036854775807, "2562047h47m16.854775807s"},
    {"0s", 0, "0s"},
    {"0.000000001s", 1, "1ns"},
    {"1.0000000001s", 1000000000, "1s"},
    {"10m0s", 600000000000, "10m0s"},
    {"90s", 90000000000, "1m30s"},
    {"3600s", 3600000000000, "1h0m0s"},
    {"1ms1us", 1001000, "1.001ms"},
    {"0.1ns", 0, "0s"},
    {"100000h", 360000000000000000, "100000h0m0s"},
    {"1h0m0s", 3600000000000, "1h0m0s"},
    {"12345ms", 12345000000, "12.345s"},
};

TEST(Duration, ReadsAndWritesAsGoDoes) {
  for (const auto& known : kKnown) {
    const auto duration = parse_duration(known.text);
    ASSERT_TRUE(duration) << known.text;
    EXPECT_EQ(duration->count(), known.nanos) << known.text;
    EXPECT_EQ(render_duration(*duration), known.canonical) << known.text;
  }
}

TEST(Duration, RefusesWhatGoRefuses) {
  for (std::string_view text : {"2562047h47m16.854775808s", "9223372036854775808ns", "1d", "1", "",
                                "s", "-", "1.5", "1h 30m", "1hh", "1m5", "3000000h", "1e3s"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code(), Code::kInvalid);
  }
  EXPECT_EQ(parse_duration("5").error().text(), "\"5\" is not a duration such as 30s, 5m or 1h30m");
}

RC_GTEST_PROP(Duration, KeepsItsValueThroughItsText, (std::int64_t nanos)) {
  const auto again = parse_duration(render_duration(Duration(nanos)));
  RC_ASSERT(again);
  RC_ASSERT(again->count() == nanos);
}

TEST(ShortDuration, ShowsTheTwoLargestUnits) {
  EXPECT_EQ(render_duration_short(76h + 30min), "3d4h");
  EXPECT_EQ(render_duration_short(90min), "1h30m");
  EXPECT_EQ(render_duration_short(5min), "5m");
  EXPECT_EQ(render_duration_short(5min + 7s), "5m7s");
  EXPECT_EQ(render_duration_short(24h + 5min), "1d");
  EXPECT_EQ(render_duration_short(45s + 900ms), "45s");
  EXPECT_EQ(render_duration_short(250ms), "250ms");
  EXPECT_EQ(render_duration_short(10us), "0s");
  EXPECT_EQ(render_duration_short(-90s), "-1m30s");
}

}  // namespace
}  // namespace quorate::json

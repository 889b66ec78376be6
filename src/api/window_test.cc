#include "api/window.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "api/generators_test.h"
#include "base/utc.h"

namespace quorate::api {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

// 2026-01-01 was a Thursday.
constexpr WallTime kThursday = sys_days{std::chrono::year{2026} / 1 / 1};

UpdateWindow window(std::string start, Span duration, std::vector<Weekday> days = {}) {
  return {std::move(days), std::move(start), duration, TimeZone::kUtc};
}

std::string text(WallTime time) {
  return render_utc(std::chrono::floor<std::chrono::seconds>(time));
}

TEST(TimeOfDay, IsTwoDigitsOfHoursAndTwoOfMinutes) {
  EXPECT_EQ(parse_time_of_day("00:00"), 0min);
  EXPECT_EQ(parse_time_of_day("23:59"), 23h + 59min);
  for (const char* wrong : {"", "24:00", "9:00", "09:60", "0900", "09:00:00", "-1:00", "ab:cd"})
    EXPECT_EQ(parse_time_of_day(wrong), std::nullopt) << wrong;
}

TEST(Window, OpensEveryDayUnlessDaysAreNamed) {
  const auto daily = window("22:00", 2h);
  EXPECT_EQ(text(find_opening(daily, kThursday).from), "2026-01-01T22:00:00");
  EXPECT_EQ(text(find_opening(daily, kThursday + 24h).from), "2026-01-02T22:00:00");
  const auto weekend = window("22:00", 2h, {Weekday::kSaturday, Weekday::kSunday});
  EXPECT_EQ(text(find_opening(weekend, kThursday).from), "2026-01-03T22:00:00");
  EXPECT_EQ(text(find_opening(weekend, kThursday + 4 * 24h).from), "2026-01-10T22:00:00");
}

TEST(Window, IsOpenFromItsFirstMomentAndNotAtItsLast) {
  const auto daily = window("22:00", 2h);
  const auto at = [&](Duration time) {
    const auto when = kThursday + std::chrono::floor<std::chrono::milliseconds>(time);
    return find_opening(daily, when).contains(when);
  };
  EXPECT_FALSE(at(22h - 1ms));
  EXPECT_TRUE(at(22h));
  EXPECT_TRUE(at(24h - 1ms));
  EXPECT_FALSE(at(24h));
}

// It belongs to the day on which it began.
TEST(Window, ReachesPastMidnight) {
  const auto friday = window("23:00", 3h, {Weekday::kFriday});
  const auto saturday = kThursday + 2 * 24h;
  EXPECT_TRUE(find_opening(friday, saturday + 1h).contains(saturday + 1h));
  EXPECT_FALSE(find_opening(friday, saturday + 2h).contains(saturday + 2h));
  EXPECT_FALSE(find_opening(friday, kThursday + 24h + 1h).contains(kThursday + 24h + 1h))
      << "Friday at one in the morning would be Thursday's";
}

TEST(Window, OfAllDayAndEveryDayNeverCloses) {
  const auto always = window("06:30", 24h);
  for (auto time = kThursday; time < kThursday + 48h; time += 30min)
    EXPECT_TRUE(find_opening(always, time).contains(time)) << text(time);
}

// What is asked for is the opening at hand, or the very next one: at no time before it is any open.
TEST(Window, IsFoundWithinAWeekAndNoneIsSkipped) {
  EXPECT_TRUE(rc::check([] {
    const auto one = any_window();
    const auto when = kThursday + std::chrono::seconds(*rc::gen::inRange(0, 14 * 86'400));
    const auto found = find_opening(one, when);
    RC_ASSERT(found.until > when);
    RC_ASSERT(found.from <= when + 8 * 24h);
    RC_ASSERT(found.until - found.from == one.duration);
    const auto began = std::chrono::floor<std::chrono::days>(found.from);
    const auto day = static_cast<Weekday>(std::chrono::weekday(began).iso_encoding() - 1);
    RC_ASSERT(one.days.empty() || std::count(one.days.begin(), one.days.end(), day) == 1);
    if (found.from <= when) return;
    const auto between = when + (found.from - when) / 2;
    RC_ASSERT(find_opening(one, between) == found);
  }));
}

}  // namespace
}  // namespace quorate::api

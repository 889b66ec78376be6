#include "api/window.h"

#include <algorithm>

#include "base/strings.h"

namespace quorate::api {

std::optional<std::chrono::minutes> parse_time_of_day(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hours = text.substr(0, 2), minutes = text.substr(3);
  if (hours.find_first_not_of(kDigits) != std::string_view::npos ||
      minutes.find_first_not_of(kDigits) != std::string_view::npos)
    return std::nullopt;
  const auto h = *parse_integer(hours), m = *parse_integer(minutes);
  if (h > 23 || m > 59) return std::nullopt;
  return std::chrono::hours(h) + std::chrono::minutes(m);
}

namespace {

bool opens_on(const UpdateWindow& window, std::chrono::sys_days day) {
  const auto which = static_cast<Weekday>(std::chrono::weekday(day).iso_encoding() - 1);
  return window.days.empty() ||
         std::find(window.days.begin(), window.days.end(), which) != window.days.end();
}

}  // namespace

Opening find_opening(const UpdateWindow& window, WallTime time) {
  const auto start = parse_time_of_day(window.start).value_or(std::chrono::minutes(0));
  // Yesterday's may still be open, and within a week every day comes once.
  auto day = std::chrono::floor<std::chrono::days>(time) - std::chrono::days(1);
  while (!opens_on(window, day) || day + start + window.duration <= time)
    day += std::chrono::days(1);
  return {day + start, day + start + window.duration};
}

}  // namespace quorate::api

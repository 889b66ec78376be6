#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "api/cluster.h"
#include "base/time.h"

// When a window in which rolls may begin is open.
namespace quorate::api {

// Minutes since midnight; nothing if it is not two digits, a colon and two digits of a day.
[[nodiscard]] std::optional<std::chrono::minutes> parse_time_of_day(std::string_view text);

struct Opening {
  WallTime from;   // from then on it is open
  WallTime until;  // and from then on it is not
  bool contains(WallTime time) const { return from <= time && time < until; }
  friend bool operator==(const Opening&, const Opening&) = default;
};

// The opening that this time is in, else the next one. The window must be valid; openings of a day
// that reach into the next are of the day on which they began.
[[nodiscard]] Opening find_opening(const UpdateWindow& window, WallTime time);

}  // namespace quorate::api

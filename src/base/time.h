#pragma once

#include <chrono>

namespace quorate {

using Duration = std::chrono::nanoseconds;

// Time since an origin that is the process's own; never set back. From rt::Clock alone.
struct MonotonicClockTag {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonotonicClockTag>;
  static constexpr bool is_steady = true;
};
using Monotonic = MonotonicClockTag::time_point;

// The time of day, UTC; may jump. From rt::Clock alone; for what people and certificates read,
// never for measuring waits.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

}  // namespace quorate

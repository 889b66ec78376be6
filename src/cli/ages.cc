#include "cli/ages.h"

#include <fmt/format.h>

#include <algorithm>

namespace quorate::cli {

std::string age(Duration duration) {
  using std::chrono::duration_cast;
  const auto seconds =
      std::max<std::int64_t>(0, duration_cast<std::chrono::seconds>(duration).count());
  const auto minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  const auto two = [](std::int64_t a, char unit, std::int64_t b, char smaller) {
    return b ? fmt::format("{}{}{}{}", a, unit, b, smaller) : fmt::format("{}{}", a, unit);
  };
  if (days >= 10) return fmt::format("{}d", days);
  if (days > 0) return two(days, 'd', hours % 24, 'h');
  if (hours > 0) return two(hours, 'h', minutes % 60, 'm');
  if (minutes >= 10) return fmt::format("{}m", minutes);
  if (minutes > 0) return two(minutes, 'm', seconds % 60, 's');
  return fmt::format("{}s", seconds);
}

std::string age(WallTime since, WallTime now) { return age(Duration(now - since)); }

}  // namespace quorate::cli

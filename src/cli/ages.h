#pragma once

#include <string>

#include "base/time.h"

namespace quorate::cli {

// As kubectl writes it: 45s, 5m10s, 12m, 3h12m, 2d5h, 41d. Below a second, and of a time to come
// that a clock behind us has told: 0s.
[[nodiscard]] std::string age(Duration duration);
[[nodiscard]] std::string age(WallTime since, WallTime now);

}  // namespace quorate::cli

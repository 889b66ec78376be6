#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace quorate::json {

// Durations as Go and Kubernetes write them: "300ms", "1.5h", "1h30m", "-2m", "0". Units ns, us
// (µs), ms, s, m, h. kInvalid, quoting the text, for anything else, also for a number without a
// unit and for what passes 292 years.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

// As Go does: "1h30m0s", "1.5s", "250ms", "0s".
[[nodiscard]] std::string render_duration(Duration duration);

// For people: the two largest units, whole ones, the rest cut off: "3d4h", "1h30m", "5m", "45s",
// "250ms".
[[nodiscard]] std::string render_duration_short(Duration duration);

}  // namespace quorate::json

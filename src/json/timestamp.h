#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace quorate::json {

// The precision of a Lease's renewTime and of an Event's eventTime. A WallTime converts by itself.
using MicroTime = std::chrono::sys_time<std::chrono::microseconds>;

// RFC 3339 with any offset and any number of fractional digits, the finer ones cut off; the year
// has four digits. kInvalid, quoting the text, for anything else. A leap second counts as the
// second after it.
[[nodiscard]] Result<WallTime> parse_time(std::string_view text);
[[nodiscard]] Result<MicroTime> parse_micro_time(std::string_view text);

// metav1.Time: whole seconds, "2026-01-02T15:04:05Z".
[[nodiscard]] std::string render_time(WallTime time);
// metav1.MicroTime: always six digits, "2026-01-02T15:04:05.123456Z".
[[nodiscard]] std::string render_micro_time(MicroTime time);

}  // namespace quorate::json

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace quorate::api {

// A span of time as people write it: 90s, 5m, 1h30m; each unit at most once, the larger first.
using Span = std::chrono::seconds;

// Nothing if it is not such a text, or empty, or more than 1,000,000 hours.
[[nodiscard]] std::optional<Span> parse_span(std::string_view text);
// The shortest text that means it.
[[nodiscard]] std::string render_span(Span span);

}  // namespace quorate::api

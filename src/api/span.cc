#include "api/span.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace quorate::api {

std::optional<Span> parse_span(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Span total{0};
  for (auto [unit, seconds] : {std::pair{'h', 3600}, {'m', 60}, {'s', 1}}) {
    const auto end = text.find(unit);
    if (end == std::string_view::npos) continue;
    const auto digits = text.substr(0, end);
    if (digits.empty() || digits.size() > 6 ||
        digits.find_first_not_of("0123456789") != std::string_view::npos)
      return std::nullopt;
    total += Span(*parse_integer(digits) * seconds);
    text.remove_prefix(end + 1);
  }
  return text.empty() ? std::optional(total) : std::nullopt;
}

std::string render_span(Span span) {
  const auto total = span.count();
  std::string out;
  if (total >= 3600) out += fmt::format("{}h", total / 3600);
  if (total / 60 % 60) out += fmt::format("{}m", total / 60 % 60);
  if (total % 60 || out.empty()) out += fmt::format("{}s", total % 60);
  return out;
}

}  // namespace quorate::api

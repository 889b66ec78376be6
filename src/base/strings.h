#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quorate {

// Small helpers on ASCII text. Views that come out point into what came in.

// Without spaces, tabs and line ends on both sides.
[[nodiscard]] std::string_view trim(std::string_view text);

// The parts between separators; n separators give n + 1 parts, empty ones included.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

// The two sides of the first separator; nothing if there is none.
struct Cut {
  std::string_view before;
  std::string_view after;
};
[[nodiscard]] std::optional<Cut> cut(std::string_view text, std::string_view separator);

[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);
[[nodiscard]] std::string join(std::span<const std::string_view> parts, std::string_view separator);

[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] bool contains_ignoring_case(std::string_view text, std::string_view lower_needle);

// The whole text as a decimal integer; nothing on anything else: sign `+`, spaces, overflow.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

// How many insertions, deletions, substitutions and swaps of neighbours lead from one to the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that was probably meant, for "did you mean": the nearest by edit distance ignoring
// case, if at most a third of the letters differ. The first of several equals.
[[nodiscard]] std::optional<std::string_view> nearest_name(
    std::string_view text, std::span<const std::string_view> candidates);

}  // namespace quorate

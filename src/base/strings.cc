#include "base/strings.h"

#include <algorithm>
#include <charconv>

namespace quorate {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <class Part>
std::string join_parts(std::span<const Part> parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<Cut> cut(std::string_view text, std::string_view separator) {
  auto at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  return Cut{text.substr(0, at), text.substr(at + separator.size())};
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return join_parts(parts, separator);
}

std::string join(std::span<const std::string_view> parts, std::string_view separator) {
  return join_parts(parts, separator);
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool contains_ignoring_case(std::string_view text, std::string_view lower_needle) {
  return std::search(text.begin(), text.end(), lower_needle.begin(), lower_needle.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end() ||
         lower_needle.empty();
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table: a swap of neighbours looks two rows back.
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::optional<std::string_view> nearest_name(std::string_view text,
                                             std::span<const std::string_view> candidates) {
  const auto wanted = to_lower(text);
  std::optional<std::string_view> best;
  std::size_t best_distance = 0;
  for (auto candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, to_lower(candidate));
    const std::size_t allowed = std::max(text.size(), candidate.size()) / 3;
    if (distance > allowed || (best && distance >= best_distance)) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace quorate

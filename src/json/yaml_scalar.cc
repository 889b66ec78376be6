#include "json/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace quorate::json {

namespace {

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 6> kNotFinite = {".nan", ".NaN", ".NAN",
                                                        ".inf", ".Inf", ".INF"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Decimal, or by prefix 0x, 0o, 0b, or 0 (octal); nothing beyond 64 bits.
std::optional<Value> parse_whole(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    text.remove_prefix(kind == 'x' || kind == 'b' || kind == 'o' ? 2 : 1);
  }
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  constexpr std::uint64_t kMinimum = std::uint64_t{1} << 63;
  if (negative) {
    if (number > kMinimum) return std::nullopt;
    return Value(static_cast<std::int64_t>(0 - number));
  }
  if (number >= kMinimum) return Value(number);
  return Value(static_cast<std::int64_t>(number));
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  const auto digits = [&] {
    std::size_t count = 0;
    for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1)) ++count;
    return count;
  };
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t whole = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

std::optional<Value> parse_float(std::string_view text) {
  if (!looks_like_float(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc::result_out_of_range) {
    number = std::strtod(std::string(text).c_str(), nullptr);  // tells the two ends apart
    if (std::isinf(number)) return std::nullopt;
  }
  constexpr double kExact = 9007199254740992;  // 2^53
  if (number == std::floor(number) && std::abs(number) <= kExact)
    return Value(static_cast<std::int64_t>(number));
  return Value(number);
}

}  // namespace

std::optional<Value> resolve_plain_scalar(std::string_view text) {
  if (is_one_of(text, kNull)) return Value(nullptr);
  if (is_one_of(text, kTrue)) return Value(true);
  if (is_one_of(text, kFalse)) return Value(false);
  const bool sign = text[0] == '-' || text[0] == '+';
  if (is_one_of(sign ? text.substr(1) : text, kNotFinite)) return std::nullopt;
  if (text[0] != '.' && !sign && !is_digit(text[0])) return Value(text);
  std::string plain(text);
  if (text[0] != '.') plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
  if (auto number = parse_whole(plain)) return number;
  if (auto number = parse_float(plain)) return number;
  return Value(text);
}

}  // namespace quorate::json

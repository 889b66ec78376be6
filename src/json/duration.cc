#include "json/duration.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace quorate::json {

namespace {

__extension__ using Int128 = __int128;

constexpr std::int64_t kMicrosecond = 1000, kMillisecond = 1000 * kMicrosecond,
                       kSecond = 1000 * kMillisecond, kMinute = 60 * kSecond, kHour = 60 * kMinute,
                       kDay = 24 * kHour;

struct Unit {
  std::string_view text;
  std::int64_t nanos;
};
// Longer texts before their beginnings; µ has two spellings in Unicode.
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", kMicrosecond},
                                         {"\xc2\xb5s", kMicrosecond},
                                         {"\xce\xbcs", kMicrosecond},
                                         {"ms", kMillisecond},
                                         {"s", kSecond},
                                         {"m", kMinute},
                                         {"h", kHour}}};

constexpr Int128 kCeiling = Int128{std::numeric_limits<std::int64_t>::max()} + 1;

std::string_view take_digits(std::string_view& rest) {
  const auto digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  rest.remove_prefix(digits.size());
  return digits;
}

// One number with its unit at the start of `rest`, in nanoseconds, held at the ceiling.
std::optional<Int128> take_part(std::string_view& rest) {
  const auto whole = take_digits(rest);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  for (const auto& unit : kUnits) {
    if (!rest.starts_with(unit.text)) continue;
    rest.remove_prefix(unit.text.size());
    Int128 nanos = 0;
    for (char digit : whole) nanos = std::min(nanos * 10 + (digit - '0'), kCeiling);
    nanos *= unit.nanos;
    Int128 numerator = 0, denominator = 1;
    for (char digit : fraction.substr(0, 18)) {
      numerator = numerator * 10 + (digit - '0');
      denominator *= 10;
    }
    return std::min(nanos + numerator * unit.nanos / denominator, kCeiling);
  }
  return std::nullopt;
}

// `amount / unit` as a decimal without trailing zeros.
std::string decimal(std::uint64_t amount, std::uint64_t unit) {
  auto text = fmt::format("{}", amount / unit);
  if (amount % unit == 0) return text;
  std::string fraction;
  for (std::uint64_t rest = amount % unit; rest > 0; rest = rest * 10 % unit)
    fraction += static_cast<char>('0' + rest * 10 / unit);
  return text + "." + fraction;
}

std::uint64_t magnitude(Duration duration) {
  const auto nanos = static_cast<std::uint64_t>(duration.count());
  return duration.count() < 0 ? 0 - nanos : nanos;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto invalid = [&] {
    return fail(Code::kInvalid, fmt::format("\"{}\" is not a duration such as 30s, 5m or 1h30m",
                                            text.substr(0, 64)));
  };
  auto rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return Duration::zero();
  if (rest.empty()) return invalid();
  Int128 nanos = 0;
  while (!rest.empty()) {
    const auto part = take_part(rest);
    if (!part) return invalid();
    nanos = std::min(nanos + *part, kCeiling);
  }
  if (nanos >= kCeiling && !(negative && nanos == kCeiling)) return invalid();
  return Duration(static_cast<std::int64_t>(negative ? -nanos : nanos));
}

std::string render_duration(Duration duration) {
  const std::uint64_t nanos = magnitude(duration);
  const std::string sign = duration.count() < 0 ? "-" : "";
  if (nanos == 0) return "0s";
  if (nanos < kMicrosecond) return fmt::format("{}{}ns", sign, nanos);
  if (nanos < kMillisecond) return sign + decimal(nanos, kMicrosecond) + "\xc2\xb5s";
  if (nanos < kSecond) return sign + decimal(nanos, kMillisecond) + "ms";
  auto out = sign;
  if (nanos >= kHour) out += fmt::format("{}h", nanos / kHour);
  if (nanos >= kMinute) out += fmt::format("{}m", nanos % kHour / kMinute);
  return out + decimal(nanos % kMinute, kSecond) + "s";
}

std::string render_duration_short(Duration duration) {
  constexpr std::array<Unit, 5> kShown = {
      {{"d", kDay}, {"h", kHour}, {"m", kMinute}, {"s", kSecond}, {"ms", kMillisecond}}};
  std::uint64_t rest = magnitude(duration);
  std::string out = duration.count() < 0 ? "-" : "";
  for (std::size_t i = 0; i < kShown.size(); ++i) {
    const auto unit = static_cast<std::uint64_t>(kShown[i].nanos);
    if (rest < unit) continue;
    out += fmt::format("{}{}", rest / unit, kShown[i].text);
    if (unit <= kSecond) return out;
    const auto next = static_cast<std::uint64_t>(kShown[i + 1].nanos);
    if (rest % unit >= next) out += fmt::format("{}{}", rest % unit / next, kShown[i + 1].text);
    return out;
  }
  return "0s";
}

}  // namespace quorate::json

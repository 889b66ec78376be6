#include "json/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/strings.h"

namespace quorate::json {

namespace {

__extension__ using Int128 = __int128;

constexpr Int128 kBillion = 1'000'000'000;
constexpr Int128 kMaxNanos = Int128{std::numeric_limits<std::int64_t>::max()} * kBillion;

struct Suffix {
  std::string_view text;
  int exponent;  // of 10, or of 1024
  Quantity::Format format;
};

constexpr std::array<Suffix, 16> kSuffixes = {{
    {"n", -9, Quantity::Format::kDecimal},
    {"u", -6, Quantity::Format::kDecimal},
    {"m", -3, Quantity::Format::kDecimal},
    {"", 0, Quantity::Format::kDecimal},
    {"k", 3, Quantity::Format::kDecimal},
    {"M", 6, Quantity::Format::kDecimal},
    {"G", 9, Quantity::Format::kDecimal},
    {"T", 12, Quantity::Format::kDecimal},
    {"P", 15, Quantity::Format::kDecimal},
    {"E", 18, Quantity::Format::kDecimal},
    {"Ki", 1, Quantity::Format::kBinary},
    {"Mi", 2, Quantity::Format::kBinary},
    {"Gi", 3, Quantity::Format::kBinary},
    {"Ti", 4, Quantity::Format::kBinary},
    {"Pi", 5, Quantity::Format::kBinary},
    {"Ei", 6, Quantity::Format::kBinary},
}};

std::optional<Suffix> parse_suffix(std::string_view text) {
  const auto found = std::find_if(kSuffixes.begin(), kSuffixes.end(),
                                  [&](const Suffix& suffix) { return suffix.text == text; });
  if (found != kSuffixes.end()) return *found;
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  auto digits = text.substr(1);
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
    if (digits.starts_with('-')) return std::nullopt;
  }
  const auto exponent = parse_integer(digits);
  if (!exponent) return std::nullopt;
  // Beyond these everything is held at the ends anyway.
  const auto held = std::clamp<std::int64_t>(*exponent, -100'000, 100'000);
  return Suffix{text, static_cast<int>(held), Quantity::Format::kExponent};
}

std::string_view suffix_text(int exponent, Quantity::Format format) {
  return std::find_if(kSuffixes.begin(), kSuffixes.end(),
                      [&](const Suffix& suffix) {
                        return suffix.exponent == exponent &&
                               (suffix.format == format || exponent == 0);
                      })
      ->text;
}

// digits * 1024, on decimal digits of any length.
void multiply_by_1024(std::string& digits) {
  int carry = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    const int product = (*digit - '0') * 1024 + carry;
    *digit = static_cast<char>('0' + product % 10);
    carry = product / 10;
  }
  if (carry > 0) digits.insert(0, std::to_string(carry));
}

// digits * 10^exponent in units of 10^-9, rounded up and held at the end.
Int128 to_nanos(std::string digits, std::int64_t exponent) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  while (digits.ends_with('0')) {
    digits.pop_back();
    ++exponent;
  }
  if (digits.empty()) return 0;
  const std::int64_t whole = static_cast<std::int64_t>(digits.size()) + exponent;
  if (whole > 20) return kMaxNanos;
  const std::int64_t places = whole + 9;  // digits that count
  Int128 nanos = 0;
  for (std::int64_t i = 0; i < places; ++i) {
    const auto at = static_cast<std::size_t>(i);
    nanos = nanos * 10 + (at < digits.size() ? digits[at] - '0' : 0);
  }
  if (places < static_cast<std::int64_t>(digits.size())) ++nanos;
  return std::min(nanos, kMaxNanos);
}

std::int64_t rounded_up(Int128 nanos, Int128 unit) {
  const Int128 quotient = nanos / unit, rest = nanos % unit;
  const Int128 result = quotient + (rest > 0 ? 1 : rest < 0 ? -1 : 0);
  return static_cast<std::int64_t>(std::clamp<Int128>(
      result, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

Quantity Quantity::of(Bytes bytes) { return {Nanos{bytes.value()} * kBillion, Format::kBinary}; }

Quantity Quantity::of_millis(std::int64_t millis) {
  return {Nanos{millis} * (kBillion / 1000), Format::kDecimal};
}

Result<Quantity> Quantity::parse(std::string_view text) {
  const auto invalid = [&] {
    return fail(
        Code::kInvalid,
        fmt::format("\"{}\" is not a quantity such as 500m, 2, 1.5Gi or 1e3", text.substr(0, 64)));
  };
  auto rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const auto take_digits = [&] {
    const auto digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    rest.remove_prefix(digits.size());
    return std::string(digits);
  };
  std::string digits = take_digits();
  std::int64_t exponent = 0;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const auto fraction = take_digits();
    digits += fraction;
    exponent = -static_cast<std::int64_t>(fraction.size());
  }
  const auto suffix = parse_suffix(rest);
  if (digits.empty() || !suffix) return invalid();
  if (suffix->format == Format::kBinary) {
    for (int i = 0; i < suffix->exponent; ++i) multiply_by_1024(digits);
  } else {
    exponent += suffix->exponent;
  }
  const Nanos nanos = to_nanos(std::move(digits), exponent);
  return Quantity(negative ? -nanos : nanos, suffix->format);
}

Result<Quantity> Quantity::from_json(const Value& value) {
  if (const auto* text = value.if_string()) return parse(std::string_view(*text));
  if (value.is_number()) return parse(render(value));
  return fail(Code::kInvalid,
              fmt::format("expected a quantity, a string or a number, found {}", kind_name(value)));
}

std::string Quantity::text() const {
  if (nanos_ == 0) return "0";
  const bool whole = nanos_ % kBillion == 0;
  const bool small = nanos_ > -1024 * kBillion && nanos_ < 1024 * kBillion;
  if (format_ == Format::kBinary && whole && !small) {
    Nanos amount = nanos_ / kBillion;
    int exponent = 0;
    for (; amount % 1024 == 0; amount /= 1024) ++exponent;
    return fmt::format("{}{}", static_cast<std::int64_t>(amount),
                       suffix_text(exponent, Format::kBinary));
  }
  Nanos amount = nanos_;
  int exponent = -9;
  for (; amount % 1000 == 0; amount /= 1000) exponent += 3;
  if (format_ == Format::kExponent && exponent != 0) return fmt::format("{}e{}", amount, exponent);
  return fmt::format("{}{}", amount, suffix_text(exponent, Format::kDecimal));
}

Bytes Quantity::bytes() const { return Bytes(rounded_up(nanos_, kBillion)); }

std::int64_t Quantity::millis() const { return rounded_up(nanos_, kBillion / 1000); }

int Quantity::sign() const { return nanos_ > 0 ? 1 : nanos_ < 0 ? -1 : 0; }

}  // namespace quorate::json

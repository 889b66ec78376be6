#include "base/bytes.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace quorate {

namespace {

constexpr std::string_view kStandardAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kNoDigit = 0xff;

using DigitTable = std::array<std::uint8_t, 256>;

constexpr DigitTable digit_table(std::string_view alphabet) {
  DigitTable table{};
  table.fill(kNoDigit);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return table;
}
constexpr DigitTable kStandardDigits = digit_table(kStandardAlphabet);
constexpr DigitTable kUrlDigits = digit_table(kUrlAlphabet);

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The length of the valid UTF-8 sequence at the start of the text, or 0. No overlong forms, no
// surrogates, nothing above U+10FFFF (RFC 3629).
std::size_t sequence_length(std::string_view text) {
  const std::uint32_t a = byte_at(text, 0);
  if (a < 0x80) return text.empty() ? 0 : 1;
  const std::uint32_t b = byte_at(text, 1), c = byte_at(text, 2), d = byte_at(text, 3);
  const auto follows = [](std::uint32_t byte) { return (byte & 0xc0U) == 0x80U; };
  if (a >= 0xc2 && a <= 0xdf) return follows(b) ? 2 : 0;
  if (a >= 0xe0 && a <= 0xef) {
    if ((a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f)) return 0;
    return follows(b) && follows(c) ? 3 : 0;
  }
  if (a >= 0xf0 && a <= 0xf4) {
    if ((a == 0xf0 && b < 0x90) || (a == 0xf4 && b > 0x8f)) return 0;
    return follows(b) && follows(c) && follows(d) ? 4 : 0;
  }
  return 0;
}

// Removes padding; fails where it is wrong.
Result<std::string_view> without_padding(std::string_view text, Base64 kind) {
  const std::size_t length = text.size();
  while (!text.empty() && text.back() == '=' && length - text.size() < 2) text.remove_suffix(1);
  const std::size_t padding = length - text.size();
  const bool required = kind == Base64::kStandard;
  if ((padding > 0 || required) && length % 4 != 0)
    return fail(Code::kInvalid, "base64: wrong padding");
  if (text.size() % 4 == 1) return fail(Code::kInvalid, "base64: wrong length");
  return text;
}

}  // namespace

std::string encode_base64(std::string_view bytes, Base64 kind) {
  const auto alphabet = kind == Base64::kStandard ? kStandardAlphabet : kUrlAlphabet;
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group =
        byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2);
    const std::size_t letters = std::min<std::size_t>(bytes.size() - i, 3) + 1;
    for (std::size_t n = 0; n < letters; ++n) out += alphabet[group >> (18 - 6 * n) & 63U];
    if (kind == Base64::kStandard) out.append(4 - letters, '=');
  }
  return out;
}

Result<std::string> decode_base64(std::string_view text, Base64 kind) {
  TRY(text, without_padding(text, kind));
  const DigitTable& digits = kind == Base64::kStandard ? kStandardDigits : kUrlDigits;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int held = 0;
  for (char c : text) {
    const std::uint8_t digit = digits[static_cast<unsigned char>(c)];
    if (digit == kNoDigit) return fail(Code::kInvalid, "base64: a letter that does not belong");
    bits = bits << 6 | digit;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xffU);
  }
  if ((bits & ((1U << held) - 1)) != 0)
    return fail(Code::kInvalid, "base64: stray bits at the end");
  return out;
}

std::string encode_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out += kDigits[byte_at(bytes, i) >> 4];
    out += kDigits[byte_at(bytes, i) & 15U];
  }
  return out;
}

Result<std::string> decode_hex(std::string_view text) {
  if (text.size() % 2 != 0) return fail(Code::kInvalid, "hexadecimal: odd length");
  std::string out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return fail(Code::kInvalid, "hexadecimal: not a digit");
    out += static_cast<char>(high << 4 | low);
  }
  return out;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    out += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace quorate

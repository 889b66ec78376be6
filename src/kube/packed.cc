#include "kube/packed.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace quorate::kube {
namespace {

constexpr int kFlagsInAByte = 8;
constexpr int kBitsInAByte = 7;  // of a number: the eighth says that another byte follows
constexpr std::size_t kLongestNumber = 10;

// How a text is written. Most of what the API server gives out are texts of these shapes, which
// need half the bytes or less.
enum class Shape : unsigned { kPlain, kUuid, kNumber, kHex };
constexpr int kShapeBits = 2;
constexpr std::size_t kUuidSize = 36;
constexpr std::size_t kUuidBytes = 16;
constexpr std::size_t kLongestDecimal = 18;  // digits that certainly fit

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_dash_of_uuid(std::size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

bool is_uuid(std::string_view text) {
  if (text.size() != kUuidSize) return false;
  for (std::size_t at = 0; at < kUuidSize; ++at)
    if (is_dash_of_uuid(at) ? text[at] != '-' : !is_hex(text[at])) return false;
  return true;
}

// Of all texts with the same value only one has this shape: no sign, no zero in front.
bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kLongestDecimal && (text[0] != '0' || text.size() == 1) &&
         std::all_of(text.begin(), text.end(), is_digit);
}

Shape shape_of(std::string_view text) {
  if (is_number(text)) return Shape::kNumber;
  if (is_uuid(text)) return Shape::kUuid;
  if (!text.empty() && text.size() % 2 == 0 && std::all_of(text.begin(), text.end(), is_hex))
    return Shape::kHex;
  return Shape::kPlain;
}

unsigned digit_value(char c) { return static_cast<unsigned>(is_digit(c) ? c - '0' : c - 'a' + 10); }

// Every two digits as a byte; dashes are left out.
void append_hex(std::string& out, std::string_view digits) {
  unsigned high = 0;
  bool half = false;
  for (const char c : digits) {
    if (c == '-') continue;
    if (half) out += static_cast<char>(high << 4U | digit_value(c));
    high = digit_value(c);
    half = !half;
  }
}

void append_digits(std::string& out, char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto bits = static_cast<unsigned char>(byte);
  out += kDigits[bits >> 4U];
  out += kDigits[bits & 15U];
}

void append_number(std::string& out, std::uint64_t value) {
  for (; value >= 1U << kBitsInAByte; value >>= kBitsInAByte)
    out += static_cast<char>(value | 1U << kBitsInAByte);
  out += static_cast<char>(value);
}

// Reads a number that append_number() has written, and moves `at` behind it.
std::uint64_t read_number(const char*& at) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += kBitsInAByte) {
    const auto byte = static_cast<unsigned char>(*at++);
    value |= static_cast<std::uint64_t>(byte & 127U) << shift;
    if (byte < 128U) return value;
  }
}

struct BlockHead {
  explicit BlockHead(const char* block) : begin(block) {
    ns = read_number(begin);
    name = read_number(begin);
    fields = read_number(begin);
  }
  const char* begin;  // of what follows the three sizes
  std::size_t ns;
  std::size_t name;
  std::size_t fields;
};

}  // namespace

void Packer::clear() {
  bytes_.clear();
  flags_left_ = 0;
}

void Packer::put_flag(bool value) {
  if (flags_left_ == 0) {
    flags_at_ = bytes_.size();
    flags_left_ = kFlagsInAByte;
    bytes_ += '\0';
  }
  if (value) bytes_[flags_at_] |= static_cast<char>(1U << (kFlagsInAByte - flags_left_));
  --flags_left_;
}

void Packer::put_size(std::uint64_t value) { append_number(bytes_, value); }

void Packer::put_signed(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  append_number(bytes_, value < 0 ? ~bits << 1U | 1U : bits << 1U);
}

void Packer::put_word(std::uint64_t value) {
  std::array<char, sizeof value> raw{};
  std::memcpy(raw.data(), &value, sizeof value);
  bytes_.append(raw.data(), raw.size());
}

void Packer::put_text(std::string_view value) {
  const auto shape = shape_of(value);
  const auto head = [&](std::size_t size) {
    append_number(bytes_, size << kShapeBits | static_cast<unsigned>(shape));
  };
  switch (shape) {
    case Shape::kPlain:
      head(value.size());
      bytes_ += value;
      break;
    case Shape::kUuid:
      head(0);
      append_hex(bytes_, value);
      break;
    case Shape::kNumber: {
      std::uint64_t number = 0;
      std::from_chars(value.data(), value.data() + value.size(), number);
      head(0);
      append_number(bytes_, number);
      break;
    }
    case Shape::kHex:
      head(value.size() / 2);
      append_hex(bytes_, value);
      break;
  }
}

std::string_view Unpacker::take(std::size_t size) {
  CHECK(size <= rest_.size(), "a packed object ends {} bytes too early", size - rest_.size());
  const auto taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

bool Unpacker::get_flag() {
  if (flags_left_ == 0) {
    flags_ = static_cast<unsigned char>(take(1)[0]);
    flags_left_ = kFlagsInAByte;
  }
  const bool value = (flags_ & 1U) != 0;
  flags_ >>= 1U;
  --flags_left_;
  return value;
}

std::uint64_t Unpacker::get_size() {
  const auto most = rest_.substr(0, kLongestNumber);
  const auto last = std::find_if(most.begin(), most.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 128U; });
  CHECK(last != most.end(), "a number of a packed object has no end");
  const char* at = take(static_cast<std::size_t>(last - most.begin()) + 1).data();
  return read_number(at);
}

std::int64_t Unpacker::get_signed() {
  const auto bits = get_size();
  return static_cast<std::int64_t>((bits & 1U) != 0 ? ~(bits >> 1U) : bits >> 1U);
}

std::uint64_t Unpacker::get_word() {
  std::uint64_t value = 0;
  std::memcpy(&value, take(sizeof value).data(), sizeof value);
  return value;
}

void Unpacker::get_text(std::string& out) {
  const auto head = get_size();
  const auto size = static_cast<std::size_t>(head >> kShapeBits);
  out.clear();
  switch (static_cast<Shape>(head & ((1U << kShapeBits) - 1))) {
    case Shape::kPlain:
      out = take(size);
      break;
    case Shape::kUuid:
      out.reserve(kUuidSize);
      for (const char byte : take(kUuidBytes)) {
        if (is_dash_of_uuid(out.size())) out += '-';
        append_digits(out, byte);
      }
      break;
    case Shape::kNumber:
      out = std::to_string(get_size());
      break;
    case Shape::kHex:
      out.reserve(size * 2);
      for (const char byte : take(size)) append_digits(out, byte);
      break;
  }
}

Packed::Packed(KeyView key, std::string_view fields) {
  std::string sizes;
  append_number(sizes, key.ns.size());
  append_number(sizes, key.name.size());
  append_number(sizes, fields.size());
  block_ = std::make_unique_for_overwrite<char[]>(sizes.size() + key.ns.size() + key.name.size() +
                                                  fields.size());
  char* at = block_.get();
  for (const std::string_view part : {std::string_view(sizes), key.ns, key.name, fields})
    at = std::copy(part.begin(), part.end(), at);
}

KeyView Packed::key_of(const char* block) {
  const BlockHead head(block);
  return {std::string_view(head.begin, head.ns), std::string_view(head.begin + head.ns, head.name)};
}

std::string_view Packed::fields_of(const char* block) {
  const BlockHead head(block);
  return {head.begin + head.ns + head.name, head.fields};
}

}  // namespace quorate::kube

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quorate::etcdsim {

// Numbers and texts one after the other: how a simulated database looks as bytes.
class ByteWriter {
 public:
  void number(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8)
      bytes_.push_back(static_cast<char>(value >> shift & 0xff));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  std::string finish() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads it back. Once something was missing it is no longer good, and gives nothing.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  bool good() const { return good_; }
  std::uint64_t number() {
    std::string_view eight = take(8);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < eight.size(); ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(eight[i])) << (8 * i);
    return value;
  }
  std::string text() { return std::string(take(number())); }

 private:
  std::string_view take(std::uint64_t size) {
    if (!good_ || size > rest_.size()) {
      good_ = false;
      return {};
    }
    std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace quorate::etcdsim

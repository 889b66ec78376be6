#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quorate::plan {

// A short text that is equal for equal descriptions, and otherwise different but for one chance in
// 2^64: FNV-1a over fields of known length. It stands on objects as quorate.io/rendered; it is no
// secret and proves nothing.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view text);
  Fingerprint& add(std::int64_t number);
  std::string text() const;  // 16 hexadecimal digits

 private:
  void mix(std::string_view bytes);
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace quorate::plan

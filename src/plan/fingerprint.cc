#include "plan/fingerprint.h"

#include <fmt/format.h>

namespace quorate::plan {

void Fingerprint::mix(std::string_view bytes) {
  for (char byte : bytes) {
    state_ ^= static_cast<unsigned char>(byte);
    state_ *= 0x100000001b3ULL;
  }
}

Fingerprint& Fingerprint::add(std::string_view text) {
  // The length first, so that no two sequences of fields read alike.
  mix(fmt::format("{}:", text.size()));
  mix(text);
  return *this;
}

Fingerprint& Fingerprint::add(std::int64_t number) { return add(fmt::format("{}", number)); }

std::string Fingerprint::text() const { return fmt::format("{:016x}", state_); }

}  // namespace quorate::plan

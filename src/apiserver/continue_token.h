#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/refusal.h"

namespace quorate::apiserver {

// Where a list in pages goes on: the version that all pages show, and the first key that has not
// been given out. On the wire: base64url of {"v":"meta.k8s.io/v1","rv":12,"start":"name\u0000"}.
struct ContinueToken {
  std::int64_t version = 0;  // -1: whatever is there now (offered after the first one expired)
  std::string last;          // the last key that was given: "name", or "namespace/name" over all

  [[nodiscard]] std::string render() const;
  [[nodiscard]] static Outcome<ContinueToken> parse(std::string_view text);
};

}  // namespace quorate::apiserver

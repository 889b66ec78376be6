#pragma once

#include <string>
#include <string_view>

#include "pki/digest.h"

namespace quorate::pki {

// ECDSA on P-256 with the nonce of RFC 6979 (HMAC-SHA-256): the same signature for the same key and
// digest, DER. The key is its scalar, 32 bytes, the highest first. Not in constant time: for
// SeededKeys, whose keys are no secret, alone.
[[nodiscard]] std::string sign_deterministically(std::string_view scalar, const Sha256& digest);

}  // namespace quorate::pki

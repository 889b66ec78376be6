#pragma once

#include <string>

#include "pki/digest.h"
#include "pki/openssl.h"

namespace quorate::pki {

// ECDSA on P-256 with the nonce of RFC 6979 (HMAC-SHA-256): the same signature for the same key and
// digest, DER. Not in constant time: for SeededKeys, whose keys are no secret, alone.
std::string sign_deterministically(const BIGNUM& scalar, const Sha256& digest);

}  // namespace quorate::pki

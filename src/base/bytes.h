#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace quorate {

// Texts that stand for bytes. Bytes are carried in std::string and std::string_view.

// kStandard is RFC 4648 section 4, with padding: Kubernetes Secrets. kUrl is section 5, without
// padding: JWTs, file names.
enum class Base64 { kStandard, kUrl };

[[nodiscard]] std::string encode_base64(std::string_view bytes, Base64 kind = Base64::kStandard);

// kInvalid for letters outside the alphabet (white space included), wrong padding, and stray bits
// at the end: each byte string has exactly one text. kUrl takes texts with or without padding.
// The input is never quoted in the error: it may be a secret.
[[nodiscard]] Result<std::string> decode_base64(std::string_view text,
                                                Base64 kind = Base64::kStandard);

// Two lower-case digits a byte; both cases are read.
[[nodiscard]] std::string encode_hex(std::string_view bytes);
[[nodiscard]] Result<std::string> decode_hex(std::string_view text);

// The text as valid UTF-8: what is not becomes U+FFFD.
[[nodiscard]] std::string to_valid_utf8(std::string_view text);
[[nodiscard]] bool is_valid_utf8(std::string_view text);

}  // namespace quorate

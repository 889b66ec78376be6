#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace quorate::pki {

using Sha256 = std::array<std::uint8_t, 32>;
using Sha1 = std::array<std::uint8_t, 20>;

[[nodiscard]] Sha256 sha256(std::string_view bytes);
[[nodiscard]] std::string sha256_hex(std::string_view bytes);  // 64 lower-case digits
[[nodiscard]] Sha256 hmac_sha256(std::string_view key, std::string_view bytes);

// For protocols that ask for it by name (WebSocket's handshake), never as a protection.
[[nodiscard]] Sha1 sha1(std::string_view bytes);

}  // namespace quorate::pki

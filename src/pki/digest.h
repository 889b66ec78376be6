#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace quorate::pki {

using Sha256 = std::array<std::uint8_t, 32>;
using Sha1 = std::array<std::uint8_t, 20>;

[[nodiscard]] Sha256 sha256(std::string_view bytes);
[[nodiscard]] std::string sha256_hex(std::string_view bytes);  // 64 lower-case digits
// Of bytes that come piece by piece.
class Sha256Stream {
 public:
  static constexpr std::size_t kSize = 32;

  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;

  void update(std::string_view bytes);
  // kSize raw bytes. Once.
  std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};
[[nodiscard]] Sha256 hmac_sha256(std::string_view key, std::string_view bytes);

// For protocols that ask for it by name (WebSocket's handshake), never as a protection.
[[nodiscard]] Sha1 sha1(std::string_view bytes);

}  // namespace quorate::pki

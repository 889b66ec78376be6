#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace quorate::net {

// An IP address with a port, as the kernel wants it.
class Address {
 public:
  // Nothing unless `text` is an IPv4 or IPv6 address (no brackets, a zone is allowed).
  [[nodiscard]] static std::optional<Address> parse(std::string_view text, std::uint16_t port);
  [[nodiscard]] static Address from(const sockaddr_storage& native);

  const sockaddr* native() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const;
  [[nodiscard]] int family() const { return storage_.ss_family; }
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] Address with_port(std::uint16_t port) const;
  [[nodiscard]] std::string text() const;  // "10.0.0.1:2379", "[::1]:2379"

 private:
  sockaddr_storage storage_{};
};

}  // namespace quorate::net

#include "net/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

namespace quorate::net {

std::optional<Address> Address::parse(std::string_view text, std::uint16_t port) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;  // where C would end it
  Address address;
  std::string name(text);
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage_);
  if (inet_pton(AF_INET, name.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    return address;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage_);
  if (auto zone = name.find('%'); zone != std::string::npos) {
    v6->sin6_scope_id = if_nametoindex(name.c_str() + zone + 1);
    if (v6->sin6_scope_id == 0) return std::nullopt;
    name.resize(zone);
  }
  if (inet_pton(AF_INET6, name.c_str(), &v6->sin6_addr) != 1) return std::nullopt;
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  return address;
}

Address Address::from(const sockaddr_storage& native) {
  Address address;
  address.storage_ = native;
  return address;
}

socklen_t Address::size() const {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::uint16_t Address::port() const {
  if (family() == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_port);
}

Address Address::with_port(std::uint16_t port) const {
  Address changed = *this;
  if (family() == AF_INET6)
    reinterpret_cast<sockaddr_in6*>(&changed.storage_)->sin6_port = htons(port);
  else
    reinterpret_cast<sockaddr_in*>(&changed.storage_)->sin_port = htons(port);
  return changed;
}

std::string Address::text() const {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  if (family() == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage_);
    inet_ntop(AF_INET6, &v6->sin6_addr, buffer.data(), buffer.size());
    return fmt::format("[{}]:{}", buffer.data(), port());
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage_);
  inet_ntop(AF_INET, &v4->sin_addr, buffer.data(), buffer.size());
  return fmt::format("{}:{}", buffer.data(), port());
}

}  // namespace quorate::net

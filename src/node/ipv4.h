#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quorate::node {

// An IPv4 address, kept as a number in host order. The only kind of address here.
class Ipv4 {
 public:
  constexpr Ipv4() = default;
  constexpr explicit Ipv4(std::uint32_t value) : value_(value) {}
  constexpr Ipv4(int a, int b, int c, int d)
      : value_(static_cast<std::uint32_t>(a) << 24 | static_cast<std::uint32_t>(b) << 16 |
               static_cast<std::uint32_t>(c) << 8 | static_cast<std::uint32_t>(d)) {}

  // Four decimal numbers and nothing else.
  [[nodiscard]] static std::optional<Ipv4> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  constexpr std::uint32_t value() const { return value_; }
  // As it stands in packets and in sockaddr_in.
  [[nodiscard]] std::uint32_t network_order() const;
  friend constexpr auto operator<=>(const Ipv4&, const Ipv4&) = default;

 private:
  std::uint32_t value_ = 0;
};

// An address with the length of its network's prefix.
struct Ipv4Net {
  Ipv4 address;
  int prefix = 32;

  constexpr bool contains(Ipv4 other) const {
    return prefix == 0 || (address.value() ^ other.value()) >> (32 - prefix) == 0;
  }
};

// Where everything is. 198.18.0.0/15 is set aside for tests of networks (RFC 2544): it is in
// nobody's use, and nothing here is routed outside.
namespace layout {
inline constexpr Ipv4Net kPods{Ipv4(198, 18, 0, 0), 16};      // node n: 198.18.n.0/24
inline constexpr Ipv4Net kServices{Ipv4(198, 19, 0, 0), 16};  // the API server's service range
inline constexpr Ipv4 kFabric{198, 18, 255, 1};               // gateway, DNS, API server, operator
inline constexpr int kMaxNodes = 254;                         // node 255 would be the fabric itself

constexpr Ipv4 node_address(int node) { return Ipv4(198, 18, node, 1); }
constexpr Ipv4 pod_address(int node, int host) { return Ipv4(198, 18, node, host); }
}  // namespace layout

}  // namespace quorate::node

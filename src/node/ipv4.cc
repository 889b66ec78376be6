#include "node/ipv4.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/strings.h"

namespace quorate::node {

std::optional<Ipv4> Ipv4::parse(std::string_view text) {
  std::uint32_t value = 0;
  auto parts = split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  for (auto part : parts) {
    auto number = parse_integer(part);
    if (!number || *number < 0 || *number > 255 || part.size() > 3) return std::nullopt;
    if (part.size() > 1 && part[0] == '0') return std::nullopt;
    value = value << 8 | static_cast<std::uint32_t>(*number);
  }
  return Ipv4(value);
}

std::string Ipv4::text() const {
  return fmt::format("{}.{}.{}.{}", value_ >> 24, value_ >> 16 & 255, value_ >> 8 & 255,
                     value_ & 255);
}

std::uint32_t Ipv4::network_order() const { return htonl(value_); }

}  // namespace quorate::node

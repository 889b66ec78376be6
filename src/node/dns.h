#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "node/ipv4.h"

namespace quorate::node {

// The names that the cluster's DNS knows. Lower case, without a final dot; what is no DNS name (an
// empty or too long label, 255 bytes in all) is left out.
class DnsZone {
 public:
  // Also makes the names above exist, without addresses (so that asking for them is no NXDOMAIN).
  // With no addresses the name exists and has none.
  void add(std::string name, const std::vector<Ipv4>& addresses);
  // The name that belongs to an address, for reverse lookups; etcd does them for wildcard
  // certificates. An address may have several.
  void add_pointer(Ipv4 address, std::string name);

  // nullptr if the name does not exist.
  const std::vector<Ipv4>* find(std::string_view name) const;
  const std::vector<std::string>* find_pointers(std::string_view reverse_name) const;
  bool operator==(const DnsZone&) const = default;

 private:
  std::map<std::string, std::vector<Ipv4>, std::less<>> names_;
  std::map<std::string, std::vector<std::string>, std::less<>> pointers_;
};

enum class DnsTransport { kUdp, kTcp };

// The answer to one message, whatever its bytes: A and PTR records, NODATA for every other type of
// a name that exists, NXDOMAIN for all others (there is no recursion: nothing else can be reached).
// Addresses are rotated by the question's id, so that callers spread. Answers that do not fit into
// UDP are cut and say so, and the caller comes back by TCP. Empty: not worth an answer (no whole
// header, or an answer itself: answering could go on for ever).
[[nodiscard]] std::string answer_dns(const DnsZone& zone, std::string_view query,
                                     DnsTransport transport);

}  // namespace quorate::node

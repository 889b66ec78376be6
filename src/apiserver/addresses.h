#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "apiserver/refusal.h"
#include "apiserver/storage.h"
#include "json/document.h"
#include "rt/clock.h"

namespace quorate::apiserver {

// Addresses and node ports of Services. What is in use is learned from the storage, so an address
// is free again as soon as its Service has gone.
class ServiceAddresses {
 public:
  // `cidr` as in 198.19.0.0/16; IPv4.
  ServiceAddresses(Storage& storage, const Kind& services, std::string_view cidr);

  // Fills in what a Service of its type has and does not name: cluster addresses, families, node
  // ports. `old` is null on creation. Refused with the real server's words if an address or a port
  // that it names is outside of the range or taken. Chance picks the address.
  Outcome<void> assign(json::Value& service, const json::Value& old, rt::Random& random);

 private:
  void note(const Event& event);
  Outcome<void> assign_cluster_ip(json::Object& spec, const json::Value& old, rt::Random& random);
  void assign_node_ports(json::Object& spec, rt::Random& random);

  std::uint32_t first_ = 0;  // the network's own address
  std::uint32_t size_ = 0;
  const Kind& services_;
  std::set<std::string, std::less<>> taken_;
  std::set<std::int64_t> taken_ports_;
  std::shared_ptr<Storage::Listener> listener_;
};

}  // namespace quorate::apiserver

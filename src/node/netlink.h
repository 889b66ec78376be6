#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "node/ipv4.h"
#include "rt/fd.h"

namespace quorate::node {

using MacAddress = std::array<std::uint8_t, 6>;

// The same address always gives the same (locally administered) MAC: a Pod that comes back under
// its address is found at once by neighbours that still remember it.
MacAddress mac_of(Ipv4 address);

// The far end of a virtual cable.
struct VethPeer {
  std::string name;
  int network_space;  // of the namespace in which it appears; borrowed
  MacAddress mac;
};

// The few rtnetlink requests that our wiring needs; blocking, microseconds each. A socket belongs
// for good to the network namespace in which it was opened, so one process can wire many.
//
// Errors name request and link: `add bridge pods: operation not permitted`, with errno as status.
class Netlink {
 public:
  // In the network namespace of the calling thread.
  [[nodiscard]] static Result<Netlink> open();

  Result<void> add_bridge(const std::string& name);
  // A cable; both ends are down. Bring the far end up first: a bridge's port that comes up before
  // it has no carrier, and forwards only when the kernel gets to notice that it has one
  // (carries()).
  Result<void> add_veth(const std::string& name, const VethPeer& peer);
  // Removes both ends of a cable. kNotFound if there is no such link.
  Result<void> remove_link(const std::string& name);
  Result<void> set_master(const std::string& name, const std::string& bridge);
  Result<void> set_up(const std::string& name);
  Result<void> set_down(const std::string& name);
  Result<void> add_address(const std::string& name, Ipv4Net net);
  Result<void> add_default_route(Ipv4 gateway);
  // Every address of the net is this machine's own: it can be bound without being added first.
  Result<void> add_local_route(Ipv4Net net);
  // Up, with the other end of the cable up, too, and the kernel has noticed both. It does so within
  // a second, or (since Linux 6.8) when it is asked this.
  [[nodiscard]] Result<bool> carries(const std::string& name);

 private:
  explicit Netlink(rt::Fd socket) : socket_(std::move(socket)) {}
  Result<int> index_of(const std::string& name);
  Result<void> change_flags(const std::string& name, unsigned flags, unsigned mask);

  struct Link {
    int index = 0;
    int operational_state = 0;  // RFC 2863
  };
  Result<Link> find_link(const std::string& name);

  rt::Fd socket_;
  std::uint32_t sequence_ = 0;
  friend class NetlinkRequest;
};

}  // namespace quorate::node

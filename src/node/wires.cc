#include "node/wires.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

#include "base/check.h"
#include "node/fabric.h"

namespace quorate::node {
namespace {

constexpr const char* kBridge = "pods";
constexpr const char* kUplink = "uplink";

std::string cable_of_node(int node) { return fmt::format("node{}", node); }
std::string cable_of_pod(Ipv4 address) { return fmt::format("pod{}", address.value() & 255); }

Result<Netlink> open_netlink_in(int network_space) {
  TRY(auto visit, NetworkVisit::to(network_space));
  return Netlink::open();
}

// Ports below 1024 are open to programs without capabilities, as in containers elsewhere.
Result<void> open_low_ports(int network_space) {
  TRY(auto visit, NetworkVisit::to(network_space));
  constexpr const char* kSetting = "/proc/sys/net/ipv4/ip_unprivileged_port_start";
  rt::Fd fd(::open(kSetting, O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), "0", 1) != 1) return fail(errno_error(kSetting, errno));
  return {};
}

Result<void> no_matter_if_missing(Result<void> result) {
  if (!result && result.error().code() == Code::kNotFound) return {};
  return result;
}

}  // namespace

Result<Wires> Wires::lay(int node) {
  CHECK(node >= 1 && node <= layout::kMaxNodes, "node {}", node);
  TRY(auto space, make_network_space());
  TRY(auto outside, Netlink::open());
  TRY(auto inside, open_netlink_in(space.get()));
  auto cable = cable_of_node(node);
  TRY(no_matter_if_missing(outside.remove_link(cable)));

  TRY(inside.set_up("lo"));
  TRY(inside.add_bridge(kBridge));
  TRY(outside.add_veth(cable, {kUplink, space.get(), mac_of(Ipv4(198, 18, node, 0))}));
  TRY(inside.set_up(kUplink));
  TRY(outside.set_master(cable, fabric_links::kBridge));
  TRY(outside.set_up(cable));
  TRY(inside.set_master(kUplink, kBridge));
  TRY(inside.add_address(kBridge, {layout::node_address(node), layout::kPods.prefix}));
  TRY(inside.set_up(kBridge));
  TRY(inside.add_default_route(layout::kFabric));
  for (auto [end, name] : {std::pair(&inside, std::string(kUplink)), std::pair(&outside, cable)})
    TRY(end->carries(name));  // asked for its effect: see there
  return Wires(node, std::move(space), std::move(outside), std::move(inside));
}

Result<void> Wires::attach(const PodSpaces& pod, Ipv4 address) {
  TRY(auto netlink, open_netlink_in(pod.network.get()));
  TRY(open_low_ports(pod.network.get()));
  TRY(netlink.set_up("lo"));
  TRY(detach(address));
  auto cable = cable_of_pod(address);
  TRY(inside_.add_veth(cable, {"eth0", pod.network.get(), mac_of(address)}));
  TRY(netlink.add_address("eth0", {address, layout::kPods.prefix}));
  TRY(netlink.set_up("eth0"));
  TRY(netlink.add_default_route(layout::kFabric));
  TRY(inside_.set_master(cable, kBridge));
  return inside_.set_up(cable);
}

Result<bool> Wires::carries(const PodSpaces& pod, Ipv4 address) {
  TRY(auto netlink, open_netlink_in(pod.network.get()));
  TRY(auto far, netlink.carries("eth0"));
  TRY(auto near, inside_.carries(cable_of_pod(address)));
  return far && near;
}

Result<void> Wires::detach(Ipv4 address) {
  return no_matter_if_missing(inside_.remove_link(cable_of_pod(address)));
}

Result<void> Wires::cut_node() { return outside_.set_down(cable_of_node(node_)); }
Result<void> Wires::mend_node() { return outside_.set_up(cable_of_node(node_)); }
Result<void> Wires::cut_pod(Ipv4 address) { return inside_.set_down(cable_of_pod(address)); }
Result<void> Wires::mend_pod(Ipv4 address) { return inside_.set_up(cable_of_pod(address)); }

}  // namespace quorate::node

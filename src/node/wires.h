#pragma once

#include <string>

#include "base/result.h"
#include "node/ipv4.h"
#include "node/namespaces.h"
#include "node/netlink.h"

namespace quorate::node {

// One node's part of the network: a network namespace with a bridge to which the Pods are wired,
// and a cable from it to the fabric's bridge. Pulling that cable cuts the node off from everything
// but its own Pods; pulling a Pod's cable cuts off that Pod.
//
// All of one segment: packets keep their true source addresses, which etcd compares with
// certificates.
class Wires {
 public:
  // In the fabric's network namespace, where the calling thread must be. A cable left by an earlier
  // life of the same node is replaced.
  [[nodiscard]] static Result<Wires> lay(int node);

  // Gives the Pod's namespace its loopback, eth0 with the address, and a default route.
  Result<void> attach(const PodSpaces& pod, Ipv4 address);
  // The cable is in use: milliseconds after `attach`. What is sent before is lost, and tried again
  // by most programs a second later.
  [[nodiscard]] Result<bool> carries(const PodSpaces& pod, Ipv4 address);
  // Ok if there is none: the cable goes by itself with the Pod's namespace.
  Result<void> detach(Ipv4 address);

  Result<void> cut_node();
  Result<void> mend_node();
  Result<void> cut_pod(Ipv4 address);
  Result<void> mend_pod(Ipv4 address);

  // Of the node itself, for sockets of probes: their source is the node's address.
  int network_space() const { return space_.get(); }
  Ipv4 address() const { return layout::node_address(node_); }

 private:
  Wires(int node, rt::Fd space, Netlink outside, Netlink inside)
      : node_(node),
        space_(std::move(space)),
        outside_(std::move(outside)),
        inside_(std::move(inside)) {}

  int node_;
  rt::Fd space_;
  Netlink outside_;  // of the fabric
  Netlink inside_;   // of the node's namespace
};

}  // namespace quorate::node

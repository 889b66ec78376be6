#pragma once

#include <map>
#include <memory>
#include <optional>

#include "kube/client.h"
#include "kube/store.h"
#include "node/dns_server.h"
#include "node/relay.h"
#include "node/services.h"
#include "rt/group.h"
#include "rt/signal.h"

namespace quorate::kube {

// Compiled once, in service_network.cc.
extern template class Store<node::ServiceView>;
extern template class Store<node::BackendView>;
extern template class Store<node::SliceView>;

}  // namespace quorate::kube

namespace quorate::node {

// Makes Services reachable inside the fabric: their names by DNS, their addresses by relays to
// ready Pods. Of the processes that play nodes in one fabric one does it; the others stand by until
// the DNS address is free, so that it outlives each of them.
class ServiceNetwork {
 public:
  struct Options {
    SocketAddress dns{layout::kFabric, 53};
    std::optional<SocketAddress> api_server;  // behind the Service default/kubernetes
    Duration stand_by = std::chrono::milliseconds(500);
    Log log;
  };

  ServiceNetwork(rt::Runtime runtime, kube::Client& client, Options options);
  Task<void> run();  // until cancelled

 private:
  Task<Result<std::unique_ptr<DnsServer>>> take_address();
  Task<void> follow_changes();
  void rebuild();
  void update_listeners();
  std::optional<SocketAddress> pick(SocketAddress service);
  static Task<void> run_relay(std::shared_ptr<Relay> relay);

  rt::Runtime runtime_;
  kube::Client& client_;
  Options options_;
  kube::Store<ServiceView> services_;
  kube::Store<BackendView> pods_;
  kube::Store<SliceView> slices_;
  rt::Signal changed_;
  bool dirty_ = true;
  ServiceMap map_;
  std::map<SocketAddress, std::shared_ptr<Relay>> listeners_;
  std::map<SocketAddress, std::size_t> turns_;  // whose turn it is among the backends
  rt::TaskGroup relays_;
};

}  // namespace quorate::node

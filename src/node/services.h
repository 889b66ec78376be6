#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/object.h"
#include "node/dns.h"
#include "node/ipv4.h"
#include "node/pod_view.h"

namespace quorate::node {

// Services as the network knows them: names for the DNS, and addresses with backends for the proxy.
// One pure function makes both from what the API says.

struct ServicePort {
  std::string name;
  std::uint16_t port = 0;
  std::string target;  // number, or name of a container's port; empty: the same number
  bool tcp = true;
};

struct ServiceView {
  kube::Meta meta;
  std::string cluster_ip;  // "None": headless; empty: none (ExternalName)
  TextMap selector;        // empty: endpoints come from slices
  std::vector<ServicePort> ports;
  bool publish_not_ready = false;

  bool headless() const { return cluster_ip == "None"; }
};
void read(json::Reader& in, ServiceView& out);

// A Pod as far as Services are concerned: any Pod of the cluster, not only this node's.
struct BackendView {
  kube::Meta meta;
  std::string pod_ip;
  std::string hostname;
  std::string subdomain;
  bool ready = false;                                       // by its condition
  bool finished = false;                                    // by its phase
  std::map<std::string, std::uint16_t, std::less<>> ports;  // named ones
};
void read(json::Reader& in, BackendView& out);

struct SliceView {
  struct Endpoint {
    std::string address;
    std::string hostname;
    bool ready = true;
  };
  kube::Meta meta;
  std::vector<Endpoint> endpoints;
  std::map<std::string, std::uint16_t, std::less<>> ports;  // by name, which may be empty
};
void read(json::Reader& in, SliceView& out);

struct SocketAddress {
  Ipv4 address;
  std::uint16_t port = 0;
  friend auto operator<=>(const SocketAddress&, const SocketAddress&) = default;
};

struct ServiceMap {
  DnsZone zone;
  // Who stands behind each address and port of a Service. Without backends there is no entry:
  // nobody listens, and callers are refused.
  std::map<SocketAddress, std::vector<SocketAddress>> backends;
};

struct ServiceFacts {
  std::vector<const ServiceView*> services;
  std::vector<const BackendView*> pods;
  std::vector<const SliceView*> slices;
  std::optional<SocketAddress> api_server;  // behind default/kubernetes, whatever its slices say
};

inline constexpr const char* kClusterDomain = "cluster.local";

[[nodiscard]] ServiceMap map_services(const ServiceFacts& facts);

}  // namespace quorate::node

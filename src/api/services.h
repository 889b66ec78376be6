#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/metadata.h"

// How a cluster's Services differ from the usual, in the words of Kubernetes. Selectors and ports
// are ours. Described in services_fields.h.
namespace quorate::api {

enum class ServiceType { kClusterIp, kNodePort, kLoadBalancer };
enum class TrafficPolicy { kCluster, kLocal };
struct ClientServiceSpec {
  ServiceType type = ServiceType::kClusterIp;
  std::optional<int> node_port;
  std::optional<std::string> load_balancer_class;
  std::vector<std::string> load_balancer_source_ranges;
  std::optional<TrafficPolicy> external_traffic_policy;
  std::optional<TrafficPolicy> internal_traffic_policy;
  friend bool operator==(const ClientServiceSpec&, const ClientServiceSpec&) = default;
};

struct ClientService {
  MetadataSpec metadata;
  ClientServiceSpec spec;
  friend bool operator==(const ClientService&, const ClientService&) = default;
};

struct PeerService {
  MetadataSpec metadata;
  friend bool operator==(const PeerService&, const PeerService&) = default;
};

struct ServicesSpec {
  ClientService client;
  PeerService peer;
  friend bool operator==(const ServicesSpec&, const ServicesSpec&) = default;
};

}  // namespace quorate::api

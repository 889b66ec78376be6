#include <fmt/format.h>

#include "api/services_fields.h"
#include "api/validate_parts.h"

// Services, and metadata of objects.
namespace quorate::api {
namespace {

void check_keys(const std::string& path, const TextTable& table, Problems& problems) {
  for (const auto& [key, value] : table)
    if (is_our_key(key))
      problems.push_back(
          {fmt::format("{}.{}", path, key), "is set by Quorate; choose another key"});
}

void check_keys(const std::string& path, const MetadataSpec& metadata, Problems& problems) {
  check_keys(path + ".labels", metadata.labels, problems);
  check_keys(path + ".annotations", metadata.annotations, problems);
}

}  // namespace

void check_metadata(const ClusterSpec& spec, Problems& problems) {
  check_keys("spec.additionalMetadata", spec.additional_metadata, problems);
  check_keys("spec.podTemplate.metadata", spec.pod_template.metadata, problems);
  check_keys("spec.services.client.metadata", spec.services.client.metadata, problems);
  check_keys("spec.services.peer.metadata", spec.services.peer.metadata, problems);
  if (spec.storage.claim)
    check_keys("spec.storage.claim.metadata", spec.storage.claim->metadata, problems);
}

void check_services(const ServicesSpec& services, Problems& problems) {
  const auto& spec = services.client.spec;
  const auto needs = [&](std::string_view field, std::string_view types) {
    problems.push_back({fmt::format("spec.services.client.spec.{}", field),
                        fmt::format("needs type to be {}, and it is {}; leave it out", types,
                                    enum_name(spec.type))});
  };
  if (spec.type == ServiceType::kClusterIp && spec.node_port)
    needs("nodePort", "NodePort or LoadBalancer");
  if (spec.type == ServiceType::kClusterIp && spec.external_traffic_policy)
    needs("externalTrafficPolicy", "NodePort or LoadBalancer");
  if (spec.type != ServiceType::kLoadBalancer && spec.load_balancer_class)
    needs("loadBalancerClass", "LoadBalancer");
  if (spec.type != ServiceType::kLoadBalancer && !spec.load_balancer_source_ranges.empty())
    needs("loadBalancerSourceRanges", "LoadBalancer");
}

}  // namespace quorate::api

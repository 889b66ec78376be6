#include "api/names.h"

#include <fmt/format.h>

#include <limits>

#include "base/strings.h"

namespace quorate::api {

std::string client_service_name(std::string_view cluster) { return std::string(cluster); }
std::string peer_service_name(std::string_view cluster) { return fmt::format("{}-peer", cluster); }
std::string disruption_budget_name(std::string_view cluster) { return std::string(cluster); }
std::string peer_ca_name(std::string_view cluster) { return fmt::format("{}-peer-ca", cluster); }
std::string client_ca_name(std::string_view cluster) {
  return fmt::format("{}-client-ca", cluster);
}
std::string peer_tls_name(std::string_view cluster) { return fmt::format("{}-peer-tls", cluster); }
std::string server_tls_name(std::string_view cluster) {
  return fmt::format("{}-server-tls", cluster);
}
std::string client_tls_name(std::string_view cluster) {
  return fmt::format("{}-client-tls", cluster);
}
std::string operator_tls_name(std::string_view cluster) {
  return fmt::format("{}-operator-tls", cluster);
}

std::string member_name(std::string_view cluster, Ordinal ordinal) {
  return fmt::format("{}-{}", cluster, ordinal.value());
}
std::string claim_name(std::string_view cluster, Ordinal ordinal) {
  return fmt::format("data-{}-{}", cluster, ordinal.value());
}

std::optional<Ordinal> ordinal_of_member_name(std::string_view cluster, std::string_view name) {
  if (!name.starts_with(cluster)) return std::nullopt;
  name.remove_prefix(cluster.size());
  if (!name.starts_with('-')) return std::nullopt;
  name.remove_prefix(1);
  auto number = parse_integer(name);
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) return std::nullopt;
  Ordinal ordinal(static_cast<int>(*number));
  // Only the one way to write it: c-01 is not a name of ours.
  return std::to_string(ordinal.value()) == name ? std::optional(ordinal) : std::nullopt;
}

std::optional<Ordinal> ordinal_of_claim_name(std::string_view cluster, std::string_view name) {
  constexpr std::string_view kPrefix = "data-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  return ordinal_of_member_name(cluster, name.substr(kPrefix.size()));
}

std::string member_host(const ClusterKey& cluster, Ordinal ordinal) {
  return fmt::format("{}.{}.{}.svc", member_name(cluster.name, ordinal),
                     peer_service_name(cluster.name), cluster.ns);
}
std::string client_host(const ClusterKey& cluster) {
  return fmt::format("{}.{}.svc", client_service_name(cluster.name), cluster.ns);
}

namespace {
std::string_view scheme(bool tls) { return tls ? "https" : "http"; }
}  // namespace

std::string peer_url(const ClusterKey& cluster, Ordinal ordinal, bool tls) {
  return fmt::format("{}://{}:{}", scheme(tls), member_host(cluster, ordinal), kPeerPort);
}
std::string client_url(const ClusterKey& cluster, Ordinal ordinal, bool tls) {
  return fmt::format("{}://{}:{}", scheme(tls), member_host(cluster, ordinal), kClientPort);
}

std::vector<std::string> peer_certificate_names(const ClusterKey& cluster,
                                                std::string_view domain) {
  std::vector<std::string> names{
      fmt::format("*.{}.{}.svc", peer_service_name(cluster.name), cluster.ns)};
  if (!domain.empty()) names.push_back(fmt::format("{}.{}", names.front(), domain));
  return names;
}

std::vector<std::string> server_certificate_names(const ClusterKey& cluster,
                                                  std::string_view domain) {
  auto names = peer_certificate_names(cluster, domain);
  auto service = client_service_name(cluster.name);
  names.push_back(service);
  names.push_back(fmt::format("{}.{}", service, cluster.ns));
  names.push_back(fmt::format("{}.{}.svc", service, cluster.ns));
  if (!domain.empty()) names.push_back(fmt::format("{}.{}", names.back(), domain));
  names.push_back("localhost");
  names.push_back("127.0.0.1");
  return names;
}

std::string formation_token(const Uid& cluster, int number) {
  return fmt::format("{}-{}", cluster.value(), number);
}

std::string pod_selector(const Uid& cluster) {
  return fmt::format("{}={},{}={}", kLabelClusterUid, cluster.value(), kLabelComponent,
                     kComponentMember);
}

}  // namespace quorate::api

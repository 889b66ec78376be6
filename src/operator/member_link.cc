#include "operator/member_link.h"

#include <fmt/format.h>

#include "api/names.h"

namespace quorate::op {
namespace {

// What the members speak: as the spec that was taken up says, or, before that, as it is declared.
bool speaks_tls(const plan::ClusterFacts& cluster) {
  if (cluster.status && cluster.status->target) return cluster.status->target->tls.client.on();
  return !cluster.declared || cluster.declared->tls.client.on();
}

std::string host_in_url(const std::string& ip) {
  return ip.find(':') == std::string::npos ? ip : "[" + ip + "]";
}

}  // namespace

std::string member_url(const plan::PodFacts& pod, bool tls, int port) {
  return fmt::format("{}://{}:{}", tls ? "https" : "http", host_in_url(pod.ip), port);
}

Task<Result<etcd::Target>> MemberLink::open(const plan::ClusterFacts& cluster,
                                            rt::Deadline deadline) {
  etcd::Target link;
  if (!speaks_tls(cluster)) co_return link;
  const ObjectKey secret{cluster.key.ns, api::operator_tls_name(cluster.key.name)};
  const auto view = caches_.secrets.find(secret);
  if (!view) co_return fail(Code::kNotFound, "Secret " + secret.text() + " is not there");
  CO_TRY(link.identity, co_await identities_.get(secret, view->meta.resource_version, deadline));
  co_return link;
}

etcd::Target MemberLink::to(etcd::Target link, const plan::ClusterFacts& cluster,
                            const plan::PodFacts& pod) {
  link.endpoint = member_url(pod, link.identity != nullptr, api::kClientPort);
  link.server_name = api::member_host(cluster.key, pod.ordinal);
  return link;
}

}  // namespace quorate::op

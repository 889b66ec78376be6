#pragma once

#include "etcd/api.h"
#include "operator/caches.h"
#include "operator/identities.h"
#include "plan/observation.h"

namespace quorate::op {

// How the operator reaches the members of a cluster: by the addresses of their Pods, under the
// names of their certificates, as whom its Secret says it is.
class MemberLink {
 public:
  MemberLink(Caches& caches, Identities& identities) : caches_(caches), identities_(identities) {}

  // What is the same for all members. kNotFound, or why the Secret cannot be used.
  Task<Result<etcd::Target>> open(const plan::ClusterFacts& cluster, rt::Deadline deadline);
  // The Secret by which we are known was just made so: it need not be read.
  void remember(const kube::Meta& secret, TlsPems pems) {
    identities_.put(secret.key, secret.resource_version, std::move(pems));
  }
  // One of them.
  [[nodiscard]] static etcd::Target to(etcd::Target link, const plan::ClusterFacts& cluster,
                                       const plan::PodFacts& pod);

 private:
  Caches& caches_;
  Identities& identities_;
};

// Where a member listens in its Pod.
[[nodiscard]] std::string member_url(const plan::PodFacts& pod, bool tls, int port);

}  // namespace quorate::op

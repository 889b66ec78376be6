#pragma once

#include "api/crd.h"
#include "tests/support/kube_fixture.h"

namespace quorate::support {

// Makes EtcdCluster and EtcdMember known to a real API server, and waits until it serves them.
// Throws FixtureError.
inline void serve_our_kinds(KubeCluster& kube) {
  using namespace std::chrono_literals;
  for (const auto& file : api::render_crds()) kube.apply(file.text);
  eventually(30s, "our kinds are served", [&] {
    auto listed = kube.kubectl({"get", "etcd,etcdm", "--all-namespaces"});
    return Look(listed.ok(), listed.err);
  });
}

}  // namespace quorate::support

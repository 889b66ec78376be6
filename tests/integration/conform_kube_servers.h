#pragma once

#include <memory>
#include <string>

#include "apiserver/server.h"
#include "kube/http_api.h"
#include "rt/loop.h"
#include "tests/sim/kube_link.h"
#include "tests/support/kube_fixture.h"

namespace quorate::conform {

// The two servers that are compared, each with our kinds. The loop outlives them.

// Makes our kinds known to a real server.
void install_kinds(support::KubeCluster& cluster);

class RealKube {
 public:
  explicit RealKube(rt::Loop& loop);
  ~RealKube();
  kube::Api& api() { return *api_; }
  support::KubeCluster& cluster() { return cluster_; }

 private:
  rt::Loop& loop_;
  support::KubeCluster cluster_;
  std::unique_ptr<kube::HttpApi> api_;
};

class OurKube {
 public:
  explicit OurKube(rt::Loop& loop);
  kube::Api& api() { return link_; }
  apiserver::Server& server() { return server_; }

 private:
  apiserver::Server server_;
  sim::KubeLink link_;
};

// The text of docs/apiserver.md.
[[nodiscard]] std::string read_document();

}  // namespace quorate::conform

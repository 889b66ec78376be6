#include "conform_kube_servers.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "api/crd.h"
#include "kube/kubeconfig.h"

namespace quorate::conform {

void install_kinds(support::KubeCluster& cluster) {
  for (const auto& file : api::render_crds()) cluster.apply(file.text);
  cluster.kubectl({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
}

// Many sequences make Services: more than the usual range of addresses holds.
RealKube::RealKube(rt::Loop& loop)
    : loop_(loop), cluster_({.api_server_flags = {"--service-cluster-ip-range=198.19.0.0/16"}}) {
  install_kinds(cluster_);
  auto config = kube::load_kubeconfig(cluster_.admin_kubeconfig());
  api_ = std::move(*kube::HttpApi::make(loop_.runtime(), std::move(config.value()),
                                        {.user_agent = "quorate/test"}));
}

RealKube::~RealKube() { loop_.run(api_->close()); }

OurKube::OurKube(rt::Loop& loop) : server_(loop.runtime(), {}), link_(loop.runtime(), server_) {
  for (const auto& file : api::render_crds())
    if (const auto installed = server_.install_crd(file.text); !installed)
      throw std::runtime_error(installed.error().text());
}

std::string read_document() {
  std::ifstream in(QUORATE_SOURCE_DIR "/docs/apiserver.md");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace quorate::conform

#pragma once

#include <functional>
#include <vector>

#include "kube/client.h"
#include "kube/store.h"
#include "node/claim_view.h"
#include "node/keyed_object.h"

namespace quorate::kube {

// Compiled once, in cluster_view.cc.
extern template class Store<node::SecretView>;
extern template class Store<node::ConfigMapView>;
extern template class Store<node::ClaimView>;
extern template class Store<node::VolumeView>;
extern template class Store<node::ClassView>;

}  // namespace quorate::kube

namespace quorate::node {

// The objects that Pods refer to, kept up to date for all nodes of one process.
class ClusterView {
 public:
  ClusterView(rt::Runtime runtime, kube::Client& client, Log log);

  Task<void> run();  // until cancelled
  Task<Result<void>> wait_until_synced(rt::Deadline deadline);

  // `changed` is called after any of the objects has changed. Lives as long as this.
  void subscribe(std::function<void()> changed) { subscribers_.push_back(std::move(changed)); }

  [[nodiscard]] ObjectFinder finder() const;
  [[nodiscard]] const kube::Store<ClaimView>& claims() const { return claims_; }
  [[nodiscard]] const kube::Store<VolumeView>& volumes() const { return volumes_; }
  [[nodiscard]] const kube::Store<ClassView>& classes() const { return classes_; }

 private:
  rt::Runtime runtime_;
  kube::Client& client_;
  Log log_;
  kube::Store<SecretView> secrets_;
  kube::Store<ConfigMapView> config_maps_;
  kube::Store<ClaimView> claims_;
  kube::Store<VolumeView> volumes_;
  kube::Store<ClassView> classes_;
  std::vector<std::function<void()>> subscribers_;
};

}  // namespace quorate::node

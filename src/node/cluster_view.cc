#include "node/cluster_view.h"

#include "rt/group.h"

namespace quorate::kube {

template class Store<node::SecretView>;
template class Store<node::ConfigMapView>;
template class Store<node::ClaimView>;
template class Store<node::VolumeView>;
template class Store<node::ClassView>;

}  // namespace quorate::kube

namespace quorate::node {

ClusterView::ClusterView(rt::Runtime runtime, kube::Client& client, Log log)
    : runtime_(runtime),
      client_(client),
      log_(std::move(log)),
      secrets_(runtime),
      config_maps_(runtime),
      claims_(runtime),
      volumes_(runtime),
      classes_(runtime) {
  auto tell = [this](const auto&) {
    for (const auto& subscriber : subscribers_) subscriber();
  };
  secrets_.subscribe(tell);
  config_maps_.subscribe(tell);
  claims_.subscribe(tell);
  volumes_.subscribe(tell);
  classes_.subscribe(tell);
}

Task<void> ClusterView::run() {
  kube::WatcherOptions all;
  all.log = log_;
  kube::Watcher secrets(runtime_, client_, kube::kSecrets, all, secrets_);
  kube::Watcher config_maps(runtime_, client_, kube::kConfigMaps, all, config_maps_);
  kube::Watcher claims(runtime_, client_, kube::kPersistentVolumeClaims, all, claims_);
  kube::Watcher volumes(runtime_, client_, kube::kPersistentVolumes, all, volumes_);
  kube::Watcher classes(runtime_, client_, kube::kStorageClasses, all, classes_);
  rt::TaskGroup group(runtime_);
  for (auto* watcher : {&secrets, &config_maps, &claims, &volumes, &classes})
    group.spawn("watcher", watcher->run());
  co_await group.join();
}

Task<Result<void>> ClusterView::wait_until_synced(rt::Deadline deadline) {
  for (auto* store : std::initializer_list<kube::StoreBase*>{&secrets_, &config_maps_, &claims_,
                                                             &volumes_, &classes_})
    CO_TRY(co_await store->wait_until_synced(deadline));
  co_return Result<void>();
}

ObjectFinder ClusterView::finder() const {
  ObjectFinder out;
  // What the stores hold is held whole, so it outlives the handle.
  out.secret = [this](const ObjectKey& key) -> const KeyedObject* {
    return secrets_.find(key).get();
  };
  out.config_map = [this](const ObjectKey& key) -> const KeyedObject* {
    return config_maps_.find(key).get();
  };
  return out;
}

}  // namespace quorate::node

#include "operator/caches.h"

#include <algorithm>

#include "api/names.h"

namespace quorate::kube {

template class Store<op::ClusterView>;
template class Store<op::RecordView>;
template class Store<op::ClaimView>;
template class Store<op::PodView>;
template class Store<op::ServiceView>;
template class Store<op::BudgetView>;
template class Store<op::SecretView>;

}  // namespace quorate::kube

namespace quorate::op {
namespace {

kube::StoreOptions store_options(const Log& log) {
  return {.indexed_labels = {std::string(api::kLabelCluster)}, .log = log};
}

std::string our_label() {
  return std::string(api::kLabelManagedBy) + "=" + std::string(api::kManagedBy);
}

}  // namespace

Caches::Caches(rt::Runtime runtime, kube::Client& client, Watched what, Log log)
    : clusters(runtime, {.log = log}),
      records(runtime, store_options(log)),
      claims(runtime, store_options(log)),
      pods(runtime, store_options(log)),
      services(runtime, store_options(log)),
      budgets(runtime, store_options(log)),
      secrets(runtime, store_options(log)),
      runtime_(runtime) {
  struct Row {
    kube::Resource resource;
    kube::StoreBase* store;
    std::string selector;
  };
  const Row rows[] = {
      {kube::kEtcdClusters, &clusters, what.selector},
      {kube::kEtcdMembers, &records, ""},
      {kube::kPersistentVolumeClaims, &claims, our_label()},
      {kube::kPods, &pods, our_label()},
      {kube::kServices, &services, our_label()},
      {kube::kPodDisruptionBudgets, &budgets, our_label()},
      {kube::kSecrets, &secrets, our_label()},
  };
  for (const auto& row : rows) {
    kube::WatcherOptions options;
    options.what.ns = what.ns;
    options.what.label_selector = row.selector;
    options.log = log.with("resource", row.resource.plural);
    watches_.push_back(
        {row.resource.plural, row.store,
         std::make_unique<kube::Watcher>(runtime, client, row.resource, options, *row.store)});
  }
}

void Caches::start(rt::TaskGroup& group) {
  for (auto& watch : watches_)
    group.spawn("watch " + std::string(watch.resource), watch.watcher->run());
}

bool Caches::synced() const {
  for (const auto& watch : watches_)
    if (!watch.store->synced()) return false;
  return true;
}

Task<Result<void>> Caches::wait_until_synced(rt::Deadline deadline) {
  for (auto& watch : watches_)
    CO_TRY(in("sync " + std::string(watch.resource),
              co_await watch.store->wait_until_synced(deadline)));
  co_return Result<void>();
}

Task<Result<void>> Caches::wait_until_caught_up(
    std::vector<std::pair<kube::StoreBase*, ObjectKey>> written, rt::Deadline deadline) {
  for (auto& [store, key] : written) {
    const auto since = runtime_.clock->now();
    auto shown = co_await store->wait_until_caught_up(key, deadline);
    if (shown) continue;
    if (shown.error() == Code::kTimeout)
      for (auto& watch : watches_)
        if (watch.store == store) watch.watcher->doubt(since);
    co_return shown;
  }
  co_return Result<void>();
}

std::vector<Caches::WatchHealth> Caches::health() const {
  std::vector<WatchHealth> out;
  for (const auto& watch : watches_) out.push_back({watch.resource, watch.watcher.get()});
  return out;
}

std::size_t Fleet::size() const {
  std::size_t pods = 0;
  for (const auto* caches : caches_) pods += caches->pods.size();
  return pods;
}

bool Fleet::synced() const {
  return std::all_of(caches_.begin(), caches_.end(),
                     [](const Caches* caches) { return caches->synced(); });
}

}  // namespace quorate::op

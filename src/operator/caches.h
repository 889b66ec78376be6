#pragma once

#include <memory>
#include <vector>

#include "kube/store.h"
#include "kube/watcher.h"
#include "operator/views.h"
#include "rt/group.h"

namespace quorate::kube {

// Compiled once, in caches.cc.
extern template class Store<op::ClusterView>;
extern template class Store<op::RecordView>;
extern template class Store<op::ClaimView>;
extern template class Store<op::PodView>;
extern template class Store<op::ServiceView>;
extern template class Store<op::BudgetView>;
extern template class Store<op::SecretView>;

}  // namespace quorate::kube

namespace quorate::op {

// What is watched.
struct Watched {
  std::string ns;        // empty: all namespaces
  std::string selector;  // of clusters, by their labels; empty: all of them
};

// All that the operator watches: clusters and records, and of Pods, claims, Services, budgets and
// Secrets those that bear our label, so that memory does not grow with objects that are not ours.
class Caches {
 public:
  Caches(rt::Runtime runtime, kube::Client& client, Watched what, Log log);

  kube::Store<ClusterView> clusters;
  kube::Store<RecordView> records;
  kube::Store<ClaimView> claims;
  kube::Store<PodView> pods;
  kube::Store<ServiceView> services;
  kube::Store<BudgetView> budgets;
  kube::Store<SecretView> secrets;

  // Starts the watches in the group.
  void start(rt::TaskGroup& group);
  // Every store has its first list.
  [[nodiscard]] bool synced() const;
  Task<Result<void>> wait_until_synced(rt::Deadline deadline);
  // Every store shows our own last writes to objects of this cluster. A watch that does not show
  // one by the deadline, and nothing else either, is opened anew.
  Task<Result<void>> wait_until_caught_up(
      std::vector<std::pair<kube::StoreBase*, ObjectKey>> written, rt::Deadline deadline);

  // The objects of a cluster, by its label, in its namespace; those of an earlier cluster of the
  // same name among them.
  template <class View>
  [[nodiscard]] static std::vector<kube::Handle<View>> of_cluster(const kube::Store<View>& store,
                                                                  const ObjectKey& cluster);

  struct WatchHealth {
    std::string_view resource;
    const kube::Watcher* watcher;
  };
  [[nodiscard]] std::vector<WatchHealth> health() const;

 private:
  struct Watch {
    std::string_view resource;
    kube::StoreBase* store;
    std::unique_ptr<kube::Watcher> watcher;
  };
  rt::Runtime runtime_;
  std::vector<Watch> watches_;
};

template <class View>
std::vector<kube::Handle<View>> Caches::of_cluster(const kube::Store<View>& store,
                                                   const ObjectKey& cluster) {
  auto found = store.labelled(api::kLabelCluster, cluster.name);
  std::erase_if(found, [&](const auto& view) { return view->meta.key.ns != cluster.ns; });
  return found;
}

// All caches of an operator: one for each namespace that it manages, or one for all of them.
class Fleet {
 public:
  void add(const Caches& caches) { caches_.push_back(&caches); }  // which outlive the fleet
  // Pods of members: what there is to ask.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool synced() const;
  [[nodiscard]] const std::vector<const Caches*>& all() const { return caches_; }

 private:
  std::vector<const Caches*> caches_;
};

}  // namespace quorate::op

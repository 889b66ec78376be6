#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/facts.h"
#include "dashboard/history.h"
#include "kube/store.h"

namespace quorate::dashboard {

class Viewer;

// The objects that the dashboard shows, as fresh as their watches, and their history since it began
// to look. What may not be read is missing and told; the rest is shown all the same.
class Live {
 public:
  // Of all namespaces if `ns` is empty. The client outlives it.
  Live(rt::Runtime runtime, kube::Client& client, const std::string& ns, Log log);
  ~Live();

  // Until cancelled.
  Task<void> run();

  // Whether the clusters have been read once.
  [[nodiscard]] bool synced() const { return clusters_.synced(); }
  // Sorted by key.
  [[nodiscard]] std::vector<kube::Handle<op::ClusterView>> clusters() const {
    return clusters_.all();
  }
  [[nodiscard]] kube::Handle<op::ClusterView> find(const ObjectKey& key) const {
    return clusters_.find(key);
  }
  // Nothing if there is no such cluster.
  [[nodiscard]] std::optional<cli::ClusterFacts> find_facts(const ObjectKey& key) const;
  [[nodiscard]] const History& history() const { return history_; }
  // What cannot be read at present, and why.
  [[nodiscard]] std::vector<std::string> trouble() const;
  [[nodiscard]] const rt::Runtime& runtime() const { return runtime_; }

 private:
  friend class Viewer;
  class EventSink;
  struct Watched {
    std::string what;
    std::unique_ptr<kube::Watcher> watcher;
  };

  void watch(std::string what, kube::Resource resource, kube::ListOptions which,
             kube::WatchSink& sink);
  template <class View>
  void subscribe_members(kube::Store<View>& store);
  void changed(const ObjectKey& cluster);
  void part_changed(const ObjectKey& cluster);  // what only those see who look at it alone

  rt::Runtime runtime_;
  kube::Client& client_;
  Log log_;
  kube::Store<op::ClusterView> clusters_;
  kube::Store<op::RecordView> records_;
  kube::Store<op::PodView> pods_;
  kube::Store<op::ClaimView> claims_;
  kube::Store<cli::EventView> events_;
  std::unique_ptr<EventSink> event_sink_;
  History history_;
  std::vector<Watched> watched_;
  std::set<Viewer*> viewers_;
};

// One page that somebody has open: which clusters have changed since it was told last. Goes before
// the Live.
class Viewer {
 public:
  // Of one cluster, or of all.
  Viewer(Live& live, std::optional<ObjectKey> only);
  ~Viewer();
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  // Those that have changed, as soon as there are any; none at the deadline. kCancelled.
  [[nodiscard]] Task<Result<std::set<ObjectKey>>> changes(rt::Deadline deadline);

 private:
  friend class Live;
  void note(const ObjectKey& cluster);

  Live& live_;
  std::optional<ObjectKey> only_;
  std::set<ObjectKey> changed_;
  rt::Signal signal_;
};

}  // namespace quorate::dashboard

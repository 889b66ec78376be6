#pragma once

#include <string>
#include <vector>

#include "kube/client.h"
#include "operator/views.h"

// What the API server says of a cluster, gathered for people to read.
namespace quorate::cli {

// An Event about one of the cluster's objects.
struct EventView {
  kube::Head meta;
  std::string kind, name;  // whom it is about
  bool warning = false;
  std::string reason, message;
  std::int64_t count = 1;
  std::optional<WallTime> last;
};
void read(json::Reader& in, EventView& out);
// Whether it is about this cluster or one of its members, their Pods or their volumes.
[[nodiscard]] bool concerns(const EventView& event, const ObjectKey& cluster);

struct ClusterFacts {
  std::string text;  // the EtcdCluster as the server sent it
  op::ClusterView cluster;
  std::vector<op::RecordView> records;  // these three sorted by ordinal
  std::vector<op::PodView> pods;
  std::vector<op::ClaimView> claims;
  std::vector<EventView> events;     // the latest first
  std::vector<std::string> unknown;  // what could not be read, and why

  [[nodiscard]] ObjectKey key() const { return cluster.meta.key; }
  void sort();  // into the order that the fields above promise
  [[nodiscard]] const op::PodView* pod_of(const std::string& member) const;
  [[nodiscard]] const op::ClaimView* claim_of(const std::string& member) const;
};

// kNotFound, saying what there is instead, if there is no such cluster. What else is refused or
// fails is told in `unknown`: somebody who may not list Pods still sees the cluster.
Task<Result<ClusterFacts>> gather(kube::Client& client, ObjectKey key, rt::Deadline deadline);

// Clusters with their texts; of all namespaces if `ns` is empty. Sorted by key. kUnavailable,
// saying what to do, if this Kubernetes does not know the kind.
struct ListedCluster {
  std::string text;
  op::ClusterView cluster;
};
Task<Result<std::vector<ListedCluster>>> list_clusters(kube::Client& client, std::string ns);

// Why a cluster could not be created, if what is missing is the kind or the namespace.
Task<Error> explain_refused_create(kube::Client& client, ObjectKey key, Error refusal);

}  // namespace quorate::cli

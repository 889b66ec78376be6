#pragma once

#include <string>

#include "etcd/pool.h"
#include "kube/lease.h"
#include "operator/controller.h"
#include "operator/counted_api.h"
#include "operator/counted_etcd.h"

namespace quorate::op {

// Where the figures are: all of it is state that is held anyway; nothing is kept for metrics alone
// but counts of bounded number.
struct MetricSources {
  const ClusterController& controller;
  const Scopes& scopes;
  const Fleet& fleet;
  const RequestCounts& requests;  // to the Kubernetes API
  const CallCounts& calls;        // of members
  const kube::Client& client;
  const kube::Recorder& events;
  const kube::Election& election;
  const etcd::Pool* pool;  // absent where members are simulated
  WallTime now;
  std::string_view version;
};

// The Prometheus text format, rendered when it is asked for: docs/metrics.md lists it.
[[nodiscard]] std::string render_metrics(const MetricSources& sources);

// Which clusters are meant; empty texts mean any.
struct ClusterFilter {
  std::string ns;
  std::string name;
  [[nodiscard]] bool matches(const ClusterKey& key) const {
    return (ns.empty() || key.ns == ns) && (name.empty() || key.name == name);
  }
};

// Clusters with every verdict of their rules but "not needed", as JSON: what `/debug/clusters`
// answers.
[[nodiscard]] std::string render_verdicts(const ClusterController& controller,
                                          const ClusterFilter& filter);

}  // namespace quorate::op

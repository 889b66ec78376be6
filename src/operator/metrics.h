#pragma once

#include <string>

#include "etcd/pool.h"
#include "kube/lease.h"
#include "operator/controller.h"

namespace quorate::op {

// Where the figures are: all of it is state that is held anyway; nothing is kept for metrics alone.
struct MetricSources {
  const ClusterController& controller;
  const Caches& caches;
  const Observer& observer;
  const Executor& executor;
  const kube::Client& client;
  const kube::Recorder& events;
  const etcd::Pool* pool;  // absent where members are simulated
  const kube::Election& election;
  std::string_view version;
};

// The Prometheus text format, rendered when it is asked for.
[[nodiscard]] std::string render_metrics(const MetricSources& sources);

// Every cluster with the verdicts of the rules, as JSON: what `/debug/clusters` answers.
[[nodiscard]] std::string render_verdicts(const ClusterController& controller);

}  // namespace quorate::op

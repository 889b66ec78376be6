#pragma once

#include <string>

#include "net/server.h"
#include "operator/operator.h"

namespace quorate::op {

// What people, probes and Prometheus may ask of a running operator:
//
//   /healthz          200 while the process works
//   /readyz           200 once every watch has its first list; before, which one has not, and why
//   /metrics          docs/metrics.md
//   /debug/clusters   verdicts of all rules; ?namespace= and ?name= choose clusters
//
// No answer holds a secret; nothing can be changed through it.
class HealthHandler : public net::Handler {
 public:
  enum class Pages { kAll, kHealth, kMetrics };  // kMetrics: /metrics and /debug/clusters
  // Operator and pool outlive it.
  HealthHandler(const Operator& op, const etcd::Pool* pool, std::string version, Pages pages)
      : op_(op), pool_(pool), version_(std::move(version)), pages_(pages) {}

  Task<void> handle(net::ServerRequest request, net::Responder& responder) override;
  // The answer to a GET of this path, its query included.
  [[nodiscard]] net::Response answer(std::string_view path) const;

 private:
  [[nodiscard]] net::Response show_clusters(std::string_view query) const;

  const Operator& op_;
  const etcd::Pool* pool_;
  std::string version_;
  Pages pages_;
};

}  // namespace quorate::op

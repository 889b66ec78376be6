#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "etcd/api.h"
#include "kube/api.h"
#include "kube/lease.h"
#include "operator/controller.h"
#include "operator/metrics.h"

namespace quorate::op {

struct OperatorOptions {
  std::vector<std::string> namespaces;  // that are managed; empty: all
  std::string selector;                 // of clusters, by their labels; empty: all
  ObjectKey lease{"default", "quorate-operator"};
  std::string identity = "quorate";  // clusters are claimed under it: the same for all replicas
  std::string replica = "quorate-operator";  // this one, for people
  kube::LeaseTimings timings;
  int workers = 16;
  kube::RateLimit kube_limit{200, 400};
  std::string default_version;     // empty: the newest that is known
  std::string default_repository;  // empty: the upstream project's
  std::string launch_image;        // that holds quorate-launch
  std::string cluster_domain;      // in names of certificates; empty: they do without
  ObserverOptions observer;
  ExecutorOptions executor;
  // What decides. Others than the production rules are for tests, which see that a broken one is
  // noticed.
  std::span<const plan::Rule> rules = plan::rules();
};

// The operator, from its seams up: it neither knows nor cares whether they are real.
class Operator {
 public:
  // `api` serves everything but lease renewal, which goes through `lease_api`, so that load on one
  // does not delay the other. They may be the same. All outlive the operator. kInvalid for options
  // that make no sense.
  static Result<std::unique_ptr<Operator>> make(rt::Runtime runtime, kube::Api& api,
                                                kube::Api& lease_api, etcd::Api& etcd,
                                                pki::KeySource& keys, OperatorOptions options,
                                                Log log);
  ~Operator();

  // Campaigns, leads, and works until stop() (ok: the lease is free for the next), leadership is
  // lost (its reason) or cancellation.
  Task<Result<void>> run();
  // Hands leadership over in the clean way; run() ends then.
  void stop();

  // Every cache has its first list: it could lead.
  [[nodiscard]] bool ready() const;
  // What is missing for that, for people: a line for each watch without its first list.
  [[nodiscard]] std::string unready() const;
  [[nodiscard]] bool leading() const;
  [[nodiscard]] std::string metrics(const etcd::Pool* pool, std::string_view version) const;
  [[nodiscard]] std::string verdicts(const ClusterFilter& filter = {}) const;

 private:
  struct Parts;
  explicit Operator(std::unique_ptr<Parts> parts);
  Task<void> lead(kube::Leadership leadership);
  std::unique_ptr<Parts> parts_;
};

}  // namespace quorate::op

#pragma once

#include <memory>
#include <string>

#include "etcd/client.h"
#include "kube/http_api.h"
#include "operator/operator.h"
#include "pki/key.h"
#include "rt/group.h"
#include "tests/integration/slice_ledger.h"

namespace quorate::slice {

struct OperatorSetup {
  kube::ClusterConfig config;  // whose rights it has
  op::OperatorOptions options;
  Log log;
};

// The production operator with everything that its process would hold. It can be killed at any
// moment, and all of it goes; what remains is what the API server has. Must be killed or stopped
// before it is destroyed.
class OperatorProcess {
 public:
  // The ledger outlives the process.
  OperatorProcess(rt::Runtime runtime, OperatorSetup setup, Ledger& ledger);

  Result<void> start();
  // As by SIGKILL: nothing is released, nothing is finished. Harmless if it has ended already.
  Task<void> kill();
  // As by SIGTERM: leadership is handed over.
  Task<Result<void>> stop(rt::Deadline deadline);

  // It has crashed at the fault of its ledger, or has ended by itself.
  [[nodiscard]] bool over() const { return life_.over(); }
  Task<Result<void>> wait_until_over(rt::Deadline deadline) {
    return life_.wait_until_over(deadline);
  }
  // Why it ended by itself; empty if it did not.
  [[nodiscard]] std::string ended() const;

  [[nodiscard]] op::Operator& op() { return *op_; }
  // A counter of its metrics: "quorate_reconciles_total".
  [[nodiscard]] long counter(std::string_view name) const;

 private:
  Task<void> run();

  rt::Runtime runtime_;
  OperatorSetup setup_;
  Ledger& ledger_;
  Life life_;
  std::unique_ptr<kube::HttpApi> api_, lease_api_;
  std::unique_ptr<TappedApi> tapped_, tapped_lease_;
  std::unique_ptr<etcd::Pool> pool_;
  std::unique_ptr<etcd::Api> etcd_;
  pki::SystemKeys keys_;
  std::unique_ptr<op::Operator> op_;
  std::optional<Result<void>> ended_;
  rt::TaskGroup group_;
};

}  // namespace quorate::slice

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/log.h"
#include "kube/api.h"
#include "operator/options.h"
#include "rt/clock.h"
#include "rt/task.h"

namespace quorate::etcd {
class Api;
class Pool;
}  // namespace quorate::etcd
namespace quorate::kube {
struct Leadership;
}
namespace quorate::pki {
class KeySource;
}

namespace quorate::op {

struct ClusterFilter;  // metrics.h

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
  [[nodiscard]] std::string verdicts(const ClusterFilter& filter) const;

 private:
  struct Parts;
  explicit Operator(std::unique_ptr<Parts> parts);
  Task<void> lead(kube::Leadership leadership);
  std::unique_ptr<Parts> parts_;
};

}  // namespace quorate::op

#pragma once

#include "etcd/api.h"
#include "operator/caches.h"
#include "operator/identities.h"
#include "operator/memory.h"
#include "plan/observation.h"

namespace quorate::op {

struct ObserverOptions {
  Duration ask_timeout = std::chrono::seconds(4);  // of all questions to one member
  Duration ask_every = std::chrono::seconds(15);   // at least; a large fleet is asked less often
  double questions_per_second = 200;               // over the whole fleet, at most
};

// Gathers the facts about one cluster: from the caches, and from the members themselves. Concludes
// nothing.
class Observer {
 public:
  Observer(rt::Runtime runtime, Caches& caches, kube::Client& client, etcd::Api& etcd,
           Identities& identities, plan::OperatorFacts op, ObserverOptions options, Log log);

  // kNotFound if the cluster is not there any more. Members are asked when their turn has come,
  // when the last decision wanted it, or when a Pod has not been asked yet; `memory` keeps their
  // answers.
  Task<Result<plan::Observation>> observe(ClusterKey key, ClusterMemory& memory);

  // How long from one regular question to the next.
  [[nodiscard]] Duration period() const;
  // The lease epoch under which is looked and acted.
  void set_epoch(std::int64_t epoch) { op_.epoch = epoch; }

  struct Counters {
    std::uint64_t questions = 0;  // asked of members
    std::uint64_t unanswered = 0;
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  void look_at_objects(const ClusterKey& key, plan::Observation& seen) const;
  void look_at_shared(const ClusterKey& key, plan::Observation& seen) const;
  Task<void> look_at_taken_names(ClusterMemory& memory);
  Task<void> ask_members(const plan::Observation& seen, ClusterMemory& memory);
  Task<Result<plan::MemberAnswer>> ask(etcd::Target target, plan::MemberAnswer answer, bool all);

  rt::Runtime runtime_;
  Caches& caches_;
  kube::Client& client_;
  etcd::Api& etcd_;
  Identities& identities_;
  plan::OperatorFacts op_;
  ObserverOptions options_;
  Log log_;
  Counters counters_;
};

}  // namespace quorate::op

#pragma once

#include "etcd/api.h"
#include "operator/caches.h"
#include "operator/member_link.h"
#include "operator/memory.h"
#include "operator/options.h"
#include "plan/observation.h"

namespace quorate::op {

// Gathers the facts about one cluster: from the caches, and from the members themselves. Concludes
// nothing.
class Observer {
 public:
  // `fleet` says how many there are to ask, over all namespaces.
  Observer(rt::Runtime runtime, Caches& caches, const Fleet& fleet, kube::Client& client,
           etcd::Api& etcd, MemberLink& link, plan::OperatorFacts op, ObserverOptions options,
           Log log);

  // kNotFound if the cluster is not there any more. Members are asked when their turn has come,
  // when the last decision wanted it, or when a Pod has not been asked yet; `memory` keeps their
  // answers.
  Task<Result<plan::Observation>> observe(ClusterKey key, ClusterMemory& memory);

  // The same without the caches, for what is about to be harmed: every object is read from the
  // server, and every member that runs is asked everything, linearizably, in this attempt.
  // kConflict if it is another cluster of the same name by now.
  Task<Result<plan::Observation>> observe_live(ClusterKey key, ClusterMemory& memory);

  // How long from one regular question to the next.
  [[nodiscard]] Duration period() const;
  // The lease epoch under which is looked and acted.
  void set_epoch(std::int64_t epoch) { op_.epoch = epoch; }

  struct Counters {
    std::uint64_t questions = 0;  // asked of members
    std::uint64_t unanswered = 0;
    std::uint64_t hash_rounds = 0;  // comparisons of members' data
    Counters& operator+=(const Counters& more) {
      questions += more.questions;
      unanswered += more.unanswered;
      hash_rounds += more.hash_rounds;
      return *this;
    }
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  // How much members are asked: nothing beyond Status unless something is to be proved; a count of
  // all keys costs, and proves something only of a cluster that has not formed.
  enum class Depth { kStatus, kMembers, kMembersAndKeys };

  void look_at_objects(const ClusterKey& key, plan::Observation& seen) const;
  void look_at_unreadable(const ClusterKey& key, plan::Observation& seen) const;
  void look_at_shared(const ClusterKey& key, plan::Observation& seen) const;
  static void add_record(const RecordView& view, plan::Observation& seen);
  void complete(plan::Observation& seen, const ClusterMemory& memory) const;
  Task<void> look_at_taken_names(ClusterMemory& memory);
  // Of all voters that answered, at the lowest revision that any of them has.
  Task<void> ask_hashes(const plan::Observation& seen, ClusterMemory& memory);
  Task<Result<plan::MemberHash>> ask_hash(etcd::Target target, plan::MemberHash hash,
                                          Revision revision);
  Task<void> ask_members(const plan::Observation& seen, ClusterMemory& memory, bool everything);
  Task<Result<plan::MemberAnswer>> ask(etcd::Target target, plan::MemberAnswer answer, Depth depth,
                                       Duration patience);

  rt::Runtime runtime_;
  Caches& caches_;
  const Fleet& fleet_;
  kube::Client& client_;
  etcd::Api& etcd_;
  MemberLink& link_;
  plan::OperatorFacts op_;
  ObserverOptions options_;
  Log log_;
  Counters counters_;
};

}  // namespace quorate::op

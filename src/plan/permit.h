#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"

namespace quorate::plan {

class QuorumGate;

// What a permit allows, and on what. The executor checks that the step is the one it was made for.
enum class Disruption {
  kAbandonFormation,    // give up a formation that never formed
  kDiscardFormation,    // delete what is left of one that was given up
  kReplaceUnformedPod,  // stop a Pod of a cluster that has not formed, its volume kept
  kHibernate,           // stop all members, their volumes kept
  kRestartMember,       // stop a member that comes back on its own data
  kChangeTrust,         // change whom members trust, or by whom they are trusted
  kAddLearner,          // tell etcd of one more member, which has no vote
  kPromoteLearner,      // give it a vote
  kMoveLeader,          // let another lead
  kRemoveMember,        // take a member off etcd's list, for good
  kDiscardMember,       // delete what is left of one that was removed
};

// Leave to do one disruptive thing. Only the quorum gate makes it, from facts; every step that
// stops a Pod, removes a member or deletes a volume carries one. It is bound to a cluster, a
// formation and the operator's lease epoch, so that it cannot serve for anything else.
class Permit {
 public:
  Disruption disruption() const { return disruption_; }
  const Uid& cluster() const { return cluster_; }
  int formation() const { return formation_; }
  std::int64_t epoch() const { return epoch_; }
  const std::string& proof() const { return proof_; }  // why it is safe, for log and event
  friend bool operator==(const Permit&, const Permit&) = default;

 private:
  friend class QuorumGate;
  Permit(Disruption disruption, Uid cluster, int formation, std::int64_t epoch, std::string proof)
      : disruption_(disruption),
        cluster_(std::move(cluster)),
        formation_(formation),
        epoch_(epoch),
        proof_(std::move(proof)) {}

  Disruption disruption_;
  Uid cluster_;
  int formation_;
  std::int64_t epoch_;
  std::string proof_;
};

}  // namespace quorate::plan

#pragma once

#include "etcd/api.h"

namespace quorate::etcd {

// What one member proved, and said, within one attempt.
struct Witness {
  Header header;    // of the quorum read
  MemberId leader;  // whom the member follows
  RaftIndex applied;
  RaftTerm term;
  bool learner = false;
};

// Evidence for the quorum gate: a linearizable read through the member, then its Status.
//
// Guarantees   a quorum confirmed a read index through this member after the call began; the member
//              that answered is the same in both answers and in one raft term, so the leader named
//              is the one that confirmed it.
// Caveats      it proves nothing about the other members without this leader: the gate asks each
//              voter that must carry the quorum, after leadership has left the victim.
// kUnavailable if there is no leader or the term changed in between, kConflict if the member did:
// ask again.
Task<Result<Witness>> witness(Api& api, Target target, rt::Deadline deadline);

}  // namespace quorate::etcd

#pragma once

#include <string_view>

#include "base/error.h"

namespace quorate::etcd {

// Why etcd refused, for callers that must tell one refusal from another. The Error's code says what
// may be done about it; several reasons share a code.
enum class Reason {
  kNone,  // not etcd's word: a failure on the way, or a text not known here

  // Membership.
  kUnhealthyCluster,     // too few members connected for long enough (5 s): wait
  kMemberExists,         // the three of a repeated MemberAdd: read the list, match by peer URL
  kPeerUrlExists,        //
  kNotEnoughStarted,     //
  kTooManyLearners,      //
  kLearnerNotReady,      // not in sync with the leader yet: wait
  kMemberNotFound,       // also: was removed before
  kMemberNotLearner,     // promotion of a voter
  kBadPeerUrls,          //
  kBadLeaderTransferee,  //

  // Leadership and service.
  kNoLeader,         // said before anything was tried
  kNotLeader,        // the call must go to the leader
  kLeaderChanged,    //
  kProposalDropped,  // raft took nothing in (leadership is being moved)
  kStopped,          // the server is going down
  kNotCapable,       // still starting up
  kRpcNotForLearner,
  kTimeout,                // etcd's own, not ours
  kTimeoutLeaderFailure,   //
  kTimeoutConnectionLost,  //
  kTimeoutLeaderTransfer,  //
  kTimeoutApplying,        // the write or read was decided but the member lags
  kRequestCancelled,       // etcd saw our deadline or our going away
  kTooManyRequests,

  // Data.
  kNoSpace,
  kCorrupt,
  kCompacted,
  kFutureRevision,
  kRequestTooLarge,
  kTooManyOps,
  kDuplicateKey,
  kEmptyKey,
  kKeyNotFound,
  kLeaseNotFound,
  kLeaseExists,
  kLeaseTtlTooLarge,

  // Authentication.
  kAuthFailed,
  kAuthPermissionDenied,
  kAuthNotEnabled,
  kAuthInvalidToken,
  kAuthOldRevision,
  kAuthUserEmpty,

  // Said by our client about an answer.
  kWrongCluster,  // the answer came from another cluster than the target names
  kWrongMember,   // ... from another member
};

std::string_view name(Reason reason);

// Whether a call changes anything: decides what a lost answer means.
enum class Effect { kRead, kWrite };

// The reason in an Error, at any depth of the operation chain.
Reason reason(const Error& error);

// The failure that etcd reports with `reason`, as a caller of Api sees it. For those who play etcd.
Error refusal(Reason reason, Effect effect);

// What a gRPC call failed with, as Api promises it. By etcd's text, because its status numbers
// differ between versions for one and the same refusal.
//
// Guarantees   a read never fails with kUnknownOutcome; a write that may have taken effect always
//              does: an answer lost on the way, etcd's own time-outs, a server that stops, and
//              every text and status that is not known to mean "not done".
Error map_failure(Error error, Effect effect);

}  // namespace quorate::etcd

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "etcd/errors.h"
#include "etcd/identity.h"
#include "etcd/types.h"
#include "rt/clock.h"

namespace quorate::etcd {

// One member's client endpoint. Never a Service or a list: whoever asks must know whom.
struct Target {
  std::string endpoint;  // https://host:port or http://host:port
  // The name that the server's certificate must have, if it is not the endpoint's host: a Pod is
  // reached by its address and known by its name.
  std::string server_name = {};
  // Whom to trust and who to be; required for https, unused for http.
  std::shared_ptr<const Identity> identity;
  // If given, an answer from anybody else is a failure (kConflict; kWrongCluster, kWrongMember),
  // and a call that changes something is not even sent before Status, on the same connection, has
  // named the same.
  std::optional<ClusterId> cluster;
  std::optional<MemberId> member;
};

// The database as it is sent, read piece by piece: the sender is slowed down to the reader's pace
// and at most about a megabyte is held. Destroying it before the end abandons the call.
class SnapshotStream {
 public:
  virtual ~SnapshotStream() = default;
  // The next piece, at most a few hundred KiB; the last pieces hold etcd's digest, as a snapshot
  // file does. Nothing at the end, and then only if the digest matches what came before it and the
  // database is whole pages; otherwise kCorrupt. kUnavailable if it broke off.
  virtual Task<Result<std::optional<SnapshotChunk>>> read(rt::Deadline deadline) = 0;
  // After the end.
  virtual const SnapshotTrailer& trailer() const = 0;
};

// One watch. It ends with an Error: kGone if its position was compacted, else kUnavailable.
// Destroying it cancels it.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual Task<Result<WatchBatch>> read(rt::Deadline deadline) = 0;
  // Asks for a progress report, which `read` then gives.
  virtual Task<Result<void>> request_progress(rt::Deadline deadline) = 0;
};

// All traffic with etcd. Two implementations: Client, and the simulator's etcd processes.
//
// Each call asks one member, once: nothing here retries, balances or follows a leader. Reads may be
// repeated by the caller. Failures carry a Code that says what may be done and a Reason (errors.h).
// A read whose answer is lost is kUnavailable; any other call whose answer is lost is
// kUnknownOutcome, and so are etcd's own time-outs of it: look before acting again.
// kTimeout means that nothing was sent.
class Api {
 public:
  virtual ~Api() = default;

  // ---- Keys ----
  virtual Task<Result<RangeAnswer>> range(Target target, RangeRequest request,
                                          rt::Deadline deadline) = 0;
  virtual Task<Result<PutAnswer>> put(Target target, PutRequest request, rt::Deadline deadline) = 0;
  virtual Task<Result<DeleteAnswer>> delete_range(Target target, DeleteRequest request,
                                                  rt::Deadline deadline) = 0;
  virtual Task<Result<TxnAnswer>> txn(Target target, TxnRequest request, rt::Deadline deadline) = 0;
  virtual Task<Result<Header>> compact(Target target, CompactRequest request,
                                       rt::Deadline deadline) = 0;

  // ---- Cluster ----
  // Linearizable on every version, 3.4 included, which answers from local state: a quorum read
  // through the same member comes first, and both answers must name one member. A learner refuses
  // (kRpcNotForLearner), a member without quorum fails.
  virtual Task<Result<MemberList>> member_list(Target target, rt::Deadline deadline) = 0;
  // Members are added as learners alone: a voter that never starts can end a cluster. A repeated
  // addition is kConflict under one of three reasons (kMemberExists, kPeerUrlExists,
  // kNotEnoughStarted): read the list, match by peer URLs. kUnavailable is a wait, be it
  // kUnhealthyCluster (5 s) or kMemberNotFound (a member with these URLs left within this second).
  virtual Task<Result<AddedMember>> add_learner(Target target, std::vector<std::string> peer_urls,
                                                rt::Deadline deadline) = 0;
  virtual Task<Result<MemberList>> promote_learner(Target target, MemberId member,
                                                   rt::Deadline deadline) = 0;
  virtual Task<Result<MemberList>> remove_member(Target target, MemberId member,
                                                 rt::Deadline deadline) = 0;
  virtual Task<Result<MemberList>> update_member(Target target, MemberId member,
                                                 std::vector<std::string> peer_urls,
                                                 rt::Deadline deadline) = 0;

  // ---- Connections ----
  // A connection of its own, on which the server says something harmless (GET /version, which both
  // the client and the peer port serve). So either side has let the other in. kUnavailable or
  // kForbidden otherwise.
  virtual Task<Result<void>> greet(Target target, rt::Deadline deadline) = 0;

  // ---- Maintenance ----
  virtual Task<Result<Status>> status(Target target, rt::Deadline deadline) = 0;
  virtual Task<Result<std::vector<Alarm>>> alarms(Target target, rt::Deadline deadline) = 0;
  virtual Task<Result<void>> disarm(Target target, Alarm alarm, rt::Deadline deadline) = 0;
  // The member answers nobody until it is done: minutes for gigabytes.
  virtual Task<Result<void>> defragment(Target target, rt::Deadline deadline) = 0;
  // At `revision`; 0 = the member's newest. kCompacted and kFutureRevision when it cannot.
  virtual Task<Result<HashKv>> hash_kv(Target target, Revision revision, rt::Deadline deadline) = 0;
  // To be sent to the leader (kNotLeader otherwise); answered when `to` leads.
  virtual Task<Result<void>> move_leader(Target target, MemberId to, rt::Deadline deadline) = 0;
  // `deadline` is for the beginning alone.
  virtual Task<Result<std::unique_ptr<SnapshotStream>>> snapshot(Target target,
                                                                 rt::Deadline deadline) = 0;

  // ---- Leases ----
  virtual Task<Result<Lease>> grant(Target target, GrantRequest request, rt::Deadline deadline) = 0;
  virtual Task<Result<Header>> revoke(Target target, LeaseId lease, rt::Deadline deadline) = 0;
  // Once. kNotFound (kLeaseNotFound) if it has run out.
  virtual Task<Result<Lease>> keep_alive(Target target, LeaseId lease, rt::Deadline deadline) = 0;
  // kNotFound (kLeaseNotFound) if it has run out.
  virtual Task<Result<Lease>> time_to_live(Target target, LeaseId lease, bool with_keys,
                                           rt::Deadline deadline) = 0;

  // ---- Watch ----
  // Ends when etcd has confirmed the watch; `deadline` is for that alone.
  virtual Task<Result<std::unique_ptr<Watch>>> watch(Target target, WatchRequest request,
                                                     rt::Deadline deadline) = 0;
};

}  // namespace quorate::etcd

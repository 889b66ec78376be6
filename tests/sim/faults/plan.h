#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "json/document.h"

namespace quorate::sim {

// What may go wrong. Targets are numbers: of an operator replica, a node, or a
// member (its Pod's ordinal within the first cluster); each kind says which.
enum class FaultKind {
  // ---- an operator replica ----
  kCrash,     // killed where it is, started again after `duration`
  kPause,     // not scheduled for `duration`, then goes on as if nothing had been
  kWallJump,  // its wall clock is `duration` off from then on
  kHandOver,  // asked to stop in the clean way, started again after `duration`
  // ---- between a replica and the API server ----
  kLoseRequest,    // the next `count` writes do not arrive
  kLoseReply,      // the next `count` writes are carried out, and nobody says so
  kRefuseWrites,   // the next `count` writes are answered 500
  kForbidCreates,  // a quota or a webhook refuses to create objects of one kind, by the target's
                   // number, for `duration`; whoever asks
  kForbidWrites,   // a policy refuses one verb on one kind with 403 or 422, by the target's number,
                   // for `duration`; whoever asks
  kRefuseReads,    // the next `count` reads, and watches that are opened, are answered 500
  kThrottle,       // the next `count` calls are answered 429
  kDelayCalls,     // calls take up to a second for `duration`
  kOutage,         // no call and no stream gets through for `duration`
  kFreezeWatches,  // streams stand still for `duration`, as those of a stale API
                   // server do
  kHalfOpen,       // streams that stand now never say anything again
  kForgetHistory,  // streams that are resumed are answered 410
  kDuplicateEvents,  // streams say everything twice for `duration`
  // ---- between a replica and etcd, and between members ----
  kLoseEtcdReplies,  // the next `count` answers of every member to the replica
  kCutFromEtcd,      // the replica reaches no member for `duration`
  kCutMember,        // the member's Pod is cut off for `duration`
  kCutPeers,         // the member and the others do not hear each other for `duration`; operators
                     // and clients reach it
  kCutOneWay,        // what the member's Pod sends arrives nowhere for `duration`
  kCutPair,          // the member's Pod and the next one do not reach each other for `duration`
  kLossy,            // a third of what the member's Pod and others send each other is lost, for
                     // `duration`
  kSlowNetwork,      // the member's Pod is 200 ms away for `duration`
  kBreakNames,       // the member's names are not resolved for `duration`
  // ---- processes and disks of a member ----
  kKill,
  kStop,  // SIGSTOP for `duration`
  kWipe,  // the disk's content is gone; a process goes on with what it has open
  kWipeAndKill,
  kBlankDisk,  // another disk is there in its place, on which nothing is, not even the guard's note
  kLoseVolume,  // its claim is deleted, and its Pod: the volume goes with them
  kCorruptLog,
  kCorruptDatabase,
  kTamper,        // its database differs from what it was told, and nobody notices
  kRaiseCorrupt,  // an alarm says that its data is corrupt, though it is not
  kRollBack,  // is what it was `duration` ago, and the process is killed: it is copied now, and put
              // back when that is over
  kFullDisk,  // for `duration`
  kReadOnly,  // for `duration`
  kStallDisk,  // for `duration`
  // ---- nodes ----
  kPowerOff,  // for `duration`
  kReboot,
  kCutNode,   // from API server and network for `duration`
  kLoseNode,  // off for ever, and its Node object is deleted
  // ---- other hands ----
  kDeletePod,  // of a member
  kEvictPod,
  kDeleteRecord,
  kWipeStatus,    // of the EtcdCluster
  kRewindStatus,  // of the EtcdCluster: what it was `duration` ago, as after a restored backup
  kDropServing,   // somebody takes the label away
  kDeleteLease,   // of the operators
  // ---- the user ----
  kDeleteCluster,    // the first
  kRecreateCluster,  // deletes it, and declares the same again after `duration`
};
[[nodiscard]] std::string_view name(FaultKind kind);
[[nodiscard]] Result<FaultKind> parse_fault_kind(std::string_view text);
inline constexpr int kFaultKinds = static_cast<int>(FaultKind::kRecreateCluster) + 1;

// Where in a side effect.
enum class Moment { kBefore, kAfterApply, kAfterReply };
[[nodiscard]] std::string_view name(Moment moment);

// A target for faults between replicas and the API server: all of them.
inline constexpr int kEverybody = -1;

struct Fault {
  FaultKind kind{};
  int target = 0;
  Duration duration{};
  int count = 1;

  // When: at a virtual time, or, if `effect` is not 0, at the operators' n-th
  // side effect (writes but for leases and Events), whose replica is the target
  // then.
  Duration at{};
  std::uint64_t effect = 0;
  Moment moment = Moment::kBefore;

  friend bool operator==(const Fault&, const Fault&) = default;
};

struct Plan {
  std::vector<Fault> faults;
  friend bool operator==(const Plan&, const Plan&) = default;
};

[[nodiscard]] std::string describe(const Fault& fault);
[[nodiscard]] json::Value encode(const Plan& plan);
[[nodiscard]] Result<Plan> decode_plan(const json::Value& value);

}  // namespace quorate::sim

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api/names.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace quorate::api {

// One attempt to form a cluster from nothing: which members it has is fixed when it is opened.
struct Formation {
  int number = 1;  // 1, 2, ...: an abandoned one is followed by the next
  Ordinal first;   // its members have the ordinals first .. first + size - 1
  int size = 0;

  bool contains(Ordinal ordinal) const {
    return ordinal >= first && ordinal.value() - first.value() < size;
  }
  int quorum() const { return size / 2 + 1; }
  friend auto operator<=>(const Formation&, const Formation&) = default;
};

// How far a member's log went at least: its data never ends below that again (docs/launch.md).
struct RaftFloor {
  std::int64_t index = 0;  // of the highest entry that the member itself said it had applied
  WallTime noted;          // when that was written down
  int voters = 0;  // how many the log knew by then; 0: not known, those who formed the cluster
  friend bool operator==(const RaftFloor&, const RaftFloor&) = default;
};

// Who a member is. It stands in the record's spec and, as annotations, on claim and Pod: every one
// of them is believed (docs/launch.md), so that no single lost object makes us forget it.
struct Identity {
  Uid cluster_uid;  // of the EtcdCluster
  Ordinal ordinal;
  int incarnation = 1;  // of the data directory: another one is another member
  Formation formation;

  // Known once the cluster has formed. Never changed, never taken back.
  std::optional<ClusterId> cluster_id;
  std::optional<MemberId> member_id;
  bool started = false;  // it answered us as this member: it has data that it must not lose
  // It is no member any more, as a quorum said: it never runs again, whatever its data.
  bool removed = false;
  // Only ever raised.
  std::optional<RaftFloor> raft_floor;

  // Made later than those who formed the cluster, to join it.
  bool joins() const { return !formation.contains(ordinal); }

  friend bool operator==(const Identity&, const Identity&) = default;
};

// Whether both speak of the same member, whatever the one knows that the other does not yet.
[[nodiscard]] bool same_member(const Identity& a, const Identity& b);
// Whether one holds what the other denies: another cluster ID, another member ID.
[[nodiscard]] bool contradict(const Identity& a, const Identity& b);
// The same member with what either of the two knows. Only for identities that do not contradict.
[[nodiscard]] Identity merge(const Identity& a, const Identity& b);

// As labels and annotations of a claim or Pod. The ordinal and the cluster's UID are labels.
using TextMap = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] TextMap identity_labels(const Identity& identity);
[[nodiscard]] TextMap identity_annotations(const Identity& identity);
// kNotFound if the object carries no identity at all, kInvalid if it is not whole.
[[nodiscard]] Result<Identity> parse_identity(const TextMap& labels, const TextMap& annotations);

}  // namespace quorate::api

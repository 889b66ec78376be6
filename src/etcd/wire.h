#pragma once

#include "etcd/types.h"

// Messages that exist on the wire alone; what callers see is in types.h.
namespace quorate::etcd::wire {

struct Empty {  // Status, Snapshot and Defragment requests; answers without a word
  friend bool operator==(const Empty&, const Empty&) = default;
};

struct HeaderOnly {
  Header header;
  friend bool operator==(const HeaderOnly&, const HeaderOnly&) = default;
};

struct MemberAddRequest {
  std::vector<std::string> peer_urls;
  bool learner = false;
  friend bool operator==(const MemberAddRequest&, const MemberAddRequest&) = default;
};

struct MemberIdRequest {  // MemberRemove, MemberPromote, MoveLeader
  MemberId id;
  friend bool operator==(const MemberIdRequest&, const MemberIdRequest&) = default;
};

struct MemberUpdateRequest {
  MemberId id;
  std::vector<std::string> peer_urls;
  friend bool operator==(const MemberUpdateRequest&, const MemberUpdateRequest&) = default;
};

struct MemberListRequest {
  bool linearizable = false;
  friend bool operator==(const MemberListRequest&, const MemberListRequest&) = default;
};

struct AlarmRequest {
  enum class Action { kGet, kActivate, kDeactivate };
  Action action = Action::kGet;
  Alarm alarm;
  friend bool operator==(const AlarmRequest&, const AlarmRequest&) = default;
};

struct AlarmAnswer {
  Header header;
  std::vector<Alarm> alarms;
  friend bool operator==(const AlarmAnswer&, const AlarmAnswer&) = default;
};

struct HashKvRequest {
  Revision revision;
  friend bool operator==(const HashKvRequest&, const HashKvRequest&) = default;
};

struct SnapshotAnswer {
  Header header;
  std::uint64_t remaining = 0;
  std::string blob;
  std::string version;
  friend bool operator==(const SnapshotAnswer&, const SnapshotAnswer&) = default;
};

struct GrantAnswer {
  Header header;
  LeaseId id;
  std::chrono::seconds ttl{0};
  std::string error;
  friend bool operator==(const GrantAnswer&, const GrantAnswer&) = default;
};

struct LeaseIdRequest {  // LeaseRevoke, LeaseKeepAlive
  LeaseId id;
  friend bool operator==(const LeaseIdRequest&, const LeaseIdRequest&) = default;
};

struct TimeToLiveRequest {
  LeaseId id;
  bool keys = false;
  friend bool operator==(const TimeToLiveRequest&, const TimeToLiveRequest&) = default;
};

struct WatchCancel {
  std::int64_t id = 0;
  friend bool operator==(const WatchCancel&, const WatchCancel&) = default;
};

struct WatchProgress {
  friend bool operator==(const WatchProgress&, const WatchProgress&) = default;
};

using WatchMessage = std::variant<WatchRequest, WatchCancel, WatchProgress>;

struct WatchAnswer {
  Header header;
  std::int64_t id = 0;
  bool created = false;
  bool cancelled = false;
  Revision compacted;  // set if it was cancelled because its position is gone
  std::string cancel_reason;
  bool fragment = false;
  std::vector<Event> events;
  friend bool operator==(const WatchAnswer&, const WatchAnswer&) = default;
};

}  // namespace quorate::etcd::wire

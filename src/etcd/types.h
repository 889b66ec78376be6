#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"

// What etcd says and is asked, as plain values: no wire format, no I/O.
namespace quorate::etcd {

using LeaseId = HexId<struct LeaseIdTag>;

// Stands on every answer: who answered, and how far it was.
struct Header {
  ClusterId cluster;
  MemberId member;  // the member that answered, which is not always the one that was meant
  Revision revision;
  RaftTerm term;
  friend bool operator==(const Header&, const Header&) = default;
};

// ---- Cluster ----

struct Member {
  MemberId id;
  std::string name;  // not proof of a start: a static bootstrap lists names of members never run
  std::vector<std::string> peer_urls;
  std::vector<std::string> client_urls;
  bool learner = false;

  // It published its client URLs, so it ran at least once.
  bool started() const { return !client_urls.empty(); }
  friend bool operator==(const Member&, const Member&) = default;
};

struct MemberList {
  Header header;
  std::vector<Member> members;

  const Member* find(MemberId id) const;
  // By the peer URLs, in any order: how a member is found again whose addition was not answered.
  const Member* find_by_peer_urls(std::vector<std::string> urls) const;
  std::size_t voters() const;
  friend bool operator==(const MemberList&, const MemberList&) = default;
};

struct AddedMember {
  Member member;
  MemberList list;  // as of the addition
  friend bool operator==(const AddedMember&, const AddedMember&) = default;
};

// ---- Maintenance ----

// A member's word about itself: not linearizable, and given without quorum and by learners too.
struct Status {
  Header header;
  std::string version;
  std::string storage_version;     // from 3.6 on; else empty
  Bytes db_size;                   // the file
  Bytes db_in_use;                 // what defragmentation would leave
  std::optional<Bytes> db_quota;   // from 3.6 on
  std::optional<MemberId> leader;  // absent = it knows of none
  RaftIndex raft_index;
  RaftIndex applied_index;
  RaftTerm term;
  std::vector<std::string> errors;  // alarms and the like, as etcd words them
  bool learner = false;

  bool leads() const { return leader == header.member; }
  friend bool operator==(const Status&, const Status&) = default;
};

enum class AlarmKind { kNoSpace, kCorrupt, kOther };

struct Alarm {
  MemberId member;
  AlarmKind kind = AlarmKind::kOther;
  friend bool operator==(const Alarm&, const Alarm&) = default;
};

// Equal hashes are meaningful only at equal `revision` and equal `compacted`.
struct HashKv {
  Header header;
  std::uint32_t hash = 0;
  Revision revision;   // that was hashed; 0 = not said (the newest, asked of etcd before 3.6)
  Revision compacted;  // the member's compaction revision then
  friend bool operator==(const HashKv&, const HashKv&) = default;
};

// ---- Keys ----

struct KeyValue {
  std::string key;
  std::string value;
  Revision create_revision;
  Revision mod_revision;
  std::int64_t version = 0;  // writes since creation
  LeaseId lease;
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

// One key, or the keys from `key` up to, not including, `end`.
struct KeyRange {
  std::string key;
  std::string end;  // empty = the one key

  static KeyRange one(std::string key) { return {std::move(key), {}}; }
  static KeyRange prefix(std::string prefix);
  static KeyRange all();
  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

enum class Consistency {
  kLinearizable,  // confirmed by a quorum
  kSerializable,  // what this one member has, however old
};

struct RangeRequest {
  KeyRange range;
  Consistency consistency = Consistency::kLinearizable;
  std::int64_t limit = 0;  // 0 = none
  Revision revision;       // 0 = the newest
  bool keys_only = false;
  bool count_only = false;
  friend bool operator==(const RangeRequest&, const RangeRequest&) = default;
};

struct RangeAnswer {
  Header header;
  std::vector<KeyValue> kvs;
  bool more = false;
  std::int64_t count = 0;  // of the whole range, whatever the limit
  friend bool operator==(const RangeAnswer&, const RangeAnswer&) = default;
};

struct PutRequest {
  std::string key;
  std::string value;
  LeaseId lease;  // 0 = none
  bool want_previous = false;
  friend bool operator==(const PutRequest&, const PutRequest&) = default;
};

struct PutAnswer {
  Header header;
  std::optional<KeyValue> previous;
  friend bool operator==(const PutAnswer&, const PutAnswer&) = default;
};

struct DeleteRequest {
  KeyRange range;
  bool want_previous = false;
  friend bool operator==(const DeleteRequest&, const DeleteRequest&) = default;
};

struct DeleteAnswer {
  Header header;
  std::int64_t deleted = 0;
  std::vector<KeyValue> previous;
  friend bool operator==(const DeleteAnswer&, const DeleteAnswer&) = default;
};

// A condition of a transaction on one key.
struct Compare {
  enum class Target { kVersion, kCreateRevision, kModRevision, kValue, kLease };
  enum class Relation { kEqual, kGreater, kLess, kNotEqual };

  std::string key;
  Target target = Target::kVersion;
  Relation relation = Relation::kEqual;
  std::int64_t number = 0;  // for every target but kValue
  std::string value;        // for kValue

  static Compare absent(std::string key) { return {std::move(key), Target::kVersion, {}, 0, {}}; }
  friend bool operator==(const Compare&, const Compare&) = default;
};

using Op = std::variant<RangeRequest, PutRequest, DeleteRequest>;
using OpAnswer = std::variant<RangeAnswer, PutAnswer, DeleteAnswer>;

struct TxnRequest {
  std::vector<Compare> compares;  // all must hold
  std::vector<Op> success;
  std::vector<Op> failure;
  friend bool operator==(const TxnRequest&, const TxnRequest&) = default;
};

struct TxnAnswer {
  Header header;
  bool succeeded = false;  // which of the two branches ran
  std::vector<OpAnswer> answers;
  friend bool operator==(const TxnAnswer&, const TxnAnswer&) = default;
};

struct CompactRequest {
  Revision revision;
  bool physical = false;  // answer only when the old revisions have left the file
  friend bool operator==(const CompactRequest&, const CompactRequest&) = default;
};

// ---- Leases ----

struct GrantRequest {
  std::chrono::seconds ttl{0};
  LeaseId id;  // 0 = etcd chooses
  friend bool operator==(const GrantRequest&, const GrantRequest&) = default;
};

struct Lease {
  Header header;
  LeaseId id;
  std::chrono::seconds ttl{0};      // remaining
  std::chrono::seconds granted{0};  // absent (0) in answers to a keep-alive
  std::vector<std::string> keys;    // only when asked for
  friend bool operator==(const Lease&, const Lease&) = default;
};

// ---- Watch ----

struct WatchRequest {
  KeyRange range;
  Revision start;  // 0 = from now on
  bool progress_notify = false;
  bool want_previous = false;
  friend bool operator==(const WatchRequest&, const WatchRequest&) = default;
};

struct Event {
  enum class Kind { kPut, kDelete };
  Kind kind = Kind::kPut;
  KeyValue kv;  // of a deletion: key and mod_revision alone
  std::optional<KeyValue> previous;
  friend bool operator==(const Event&, const Event&) = default;
};

// All events of one or more whole revisions; none = a progress report: everything up to
// header.revision has been seen.
struct WatchBatch {
  Header header;
  std::vector<Event> events;
  friend bool operator==(const WatchBatch&, const WatchBatch&) = default;
};

// ---- Snapshot ----

struct SnapshotChunk {
  std::string bytes;
  Bytes remaining;  // of the database behind this chunk, as etcd counts (without its digest)
};

// What is known once the whole snapshot has been read.
struct SnapshotTrailer {
  Bytes size;           // everything sent: the database and the 32 bytes of its digest
  std::string digest;   // SHA-256 of the database, 32 raw bytes: equal to the file's last 32
  std::string version;  // etcd's storage version, from 3.6 on; else empty
};

}  // namespace quorate::etcd

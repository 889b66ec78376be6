#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "tests/sim/etcd/auth.h"
#include "tests/sim/etcd/membership.h"
#include "tests/sim/etcd/mvcc.h"
#include "tests/sim/etcd/versions.h"

// What the log says, and what becomes of it: the state machine behind raft.
namespace quorate::etcdsim {

struct GrantLease {
  etcd::LeaseId id;
  std::chrono::seconds ttl{0};
};
struct RevokeLease {
  etcd::LeaseId id;
};
// Asking for alarms goes through the log like changing them.
struct ChangeAlarm {
  enum class Action { kGet, kRaise, kDisarm };
  Action action = Action::kGet;
  etcd::Alarm alarm;
};
// How a member tells the others its name and client URLs.
struct SetAttributes {
  MemberId member;
  std::string name;
  std::vector<std::string> client_urls;
};
struct SetClusterVersion {
  int minor = 0;
};
// A question to the v2 store, which went through the log: how 3.4 found out whether it is healthy.
struct AskOldStore {};

struct Proposal {
  using Body = std::variant<etcd::PutRequest, etcd::DeleteRequest, etcd::TxnRequest,
                            etcd::CompactRequest, GrantLease, RevokeLease, ChangeAlarm, AuthChange,
                            SetAttributes, SetClusterVersion, AskOldStore, ConfChange>;
  std::uint64_t id = 0;  // of the request, unique in a world: whoever waits for it is told
  Body body;

  const ConfChange* conf_change() const { return std::get_if<ConfChange>(&body); }
};

// One entry of the log. Without a proposal it is empty: what a new leader begins its term with.
struct Entry {
  std::uint64_t term = 0;
  std::shared_ptr<const Proposal> proposal;

  bool is_conf_change() const { return proposal && proposal->conf_change(); }
};

// Raft's own idea of the members, which can differ from the member list's.
struct ConfState {
  std::set<MemberId> voters;
  std::set<MemberId> learners;

  std::size_t quorum() const { return voters.size() / 2 + 1; }
  void apply(const ConfChange& change);
  friend bool operator==(const ConfState&, const ConfState&) = default;
};

struct LeaseRecord {
  std::chrono::seconds ttl{0};
  std::set<std::string> keys;
};

using ApplyAnswer = std::variant<std::monostate, etcd::PutAnswer, etcd::DeleteAnswer,
                                 etcd::TxnAnswer, std::vector<etcd::Member>>;

// Everything that follows from the applied part of the log. A value.
struct AppliedState {
  std::uint64_t index = 0;
  Store kv;
  std::map<etcd::LeaseId, LeaseRecord> leases;
  std::vector<etcd::Alarm> alarms;
  AuthStore auth;
  Membership membership;
  std::optional<int> cluster_minor;  // 3.<minor>: the lowest of all members, never lowered
  ConfState conf;

  // A database that came from elsewhere (a restore that was not finished) counts as having applied
  // everything up to here: entries of the log before that leave no trace in it.
  std::uint64_t database_index = 0;
  // Members whose promotion the database forgot, as 3.5.1 to 3.5.25 do; 3.6 reads the database.
  std::set<MemberId> forgotten_promotions;

  bool has_alarm(etcd::AlarmKind kind) const;
  // Applies one entry. `by`: the version of the member that applies it.
  Outcome<ApplyAnswer> apply(const Proposal& proposal, const Version& by);

 private:
  Outcome<ApplyAnswer> apply_conf_change(const ConfChange& change, const Version& by);
  Outcome<ApplyAnswer> apply_txn(const etcd::TxnRequest& txn);
  std::optional<etcd::Reason> refused_by_alarm(const Proposal::Body& body) const;
  std::optional<etcd::Reason> lease_missing(const etcd::PutRequest& put) const;
  void attach(const std::string& key, etcd::LeaseId lease);
  void revoke(etcd::LeaseId lease);
};

// What the log could not have led to: etcd panics. The process ends with exit code 2.
struct Panic {
  std::string text;
};
inline constexpr const char* kOldStoreAsked =
    "detected disallowed v2 WAL for stage --v2-deprecation=write-only";

}  // namespace quorate::etcdsim

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quorate::etcdsim {

struct Version {
  int major = 3;
  int minor = 6;
  int patch = 16;

  // "3.6.16", with or without a leading v. Absent for anything else.
  static std::optional<Version> parse(std::string_view text);
  std::string text() const;  // 3.6.16
  friend auto operator<=>(const Version&, const Version&) = default;
};

// What differs from one minor version to the next, as far as an operator can see it. One row each;
// nothing else in this folder compares versions, but for the rules about versions themselves.
struct Traits {
  int minor;
  bool pre_vote;                  // elections are announced before terms are raised
  bool add_wants_all_connected;   // strict-reconfig-check of an addition; else quorum(n + 1)
  bool learner_gives_snapshots;   //
  bool linearizable_member_list;  // knows the flag; else the list is always local
  bool read_index_retried;        // a linearizable read whose question got lost asks again
  bool status_names_quota;        // and the storage version
  bool hash_names_revision;       // HashKV says which revision it hashed
  bool publishes_by_v3;           // attributes are data of the v3 store (matters after E4)
  bool has_livez;                 // and readyz
  bool knows_experimental_flags;  //
  bool knows_graduated_flags;     // the same ones without `experimental-`
  bool checks_storage_version;    // refuses a database of a newer minor version
  std::uint64_t snapshot_count;   // entries between two snapshots of raft
  bool hash_refuses_compacted;    // HashKV of the very revision that was compacted
  bool status_wants_user;         // with auth on, Status and the alarms are for users alone
  bool health_is_logged;          // /health asks the v2 store, through the log
  bool refuses_old_store;         // panics at an entry of the log that asks the v2 store
};

const Traits& traits_of(const Version& version);

}  // namespace quorate::etcdsim

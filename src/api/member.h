#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/cluster.h"
#include "api/identity.h"

// EtcdMember: the durable record of one member's identity. The operator writes here what it is
// about to do before it does it. Described once, in member_fields.h.
namespace quorate::api {

struct MemberSpec {
  std::string cluster_name;
  Identity identity;  // flat in the resource: clusterUID, ordinal, incarnation, formation, ...
  EtcdVersion version;
  MemberRole role = MemberRole::kVoter;
  std::string peer_url;

  // False until its volume is there. It is set before etcd can run, so that a volume that is
  // missing later is a loss, never something to be made anew. Cleared only to stop the member
  // while no member is wanted; that it had a volume is known from volume_uid then.
  bool run = false;
  std::optional<Uid> volume_uid;  // of the claim that holds its data; absent for emptyDir
  // An ordinal that was used and of which nothing else is left: it is not given out again.
  std::optional<Ordinal> last_ordinal;
  // The formation was given up before it formed: what is left of it is being deleted.
  bool abandoned = false;

  friend bool operator==(const MemberSpec&, const MemberSpec&) = default;
};

struct MemberStatus {
  bool ready = false;
  std::optional<Uid> pod_uid;
  std::optional<std::string> version;  // that it runs
  // As it was when something else was written, or since it had doubled or halved.
  std::optional<std::string> db_size;    // a quantity of few digits: the file
  std::optional<std::string> db_in_use;  // what defragmentation would leave
  std::optional<std::int64_t> raft_lag;  // entries behind; 0 while it is near
  friend bool operator==(const MemberStatus&, const MemberStatus&) = default;
};

}  // namespace quorate::api

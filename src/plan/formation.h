#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/situation.h"

// What a formation's members are, and when it has formed.
namespace quorate::plan {

// The members as etcd's initial-cluster: c-0=https://...,c-1=https://... Those of the formation;
// once it has formed, those whom the roster lists, or else all that are known to have been added.
[[nodiscard]] std::string initial_cluster(const Situation& now);
[[nodiscard]] std::string peer_url_of(const Situation& now, Ordinal ordinal);

// Whether etcd's list holds exactly the members of the formation that stands, by peer URL, all of
// them voters.
[[nodiscard]] bool is_list_of_formation(const Situation& now,
                                        const std::vector<ListedMember>& list);
[[nodiscard]] const ListedMember* find_listed(const Situation& now,
                                              const std::vector<ListedMember>& list,
                                              Ordinal ordinal);

// What a quorum said, in this attempt, of a cluster that was not written down as formed yet.
struct FormedProof {
  ClusterId cluster_id;
  std::vector<ListedMember> members;
};

// Guarantees   at least a quorum of the formation's members answered in this attempt with the same
//              cluster ID, each as the member that the list has for its peer URL; the list was read
//              linearizably, and is that of the formation.
[[nodiscard]] std::optional<FormedProof> prove_formed(const Situation& now);

// The member is one of those: the voter whom the list has for its peer URL, and it follows a
// leader.
[[nodiscard]] bool bears_witness(const Situation& now, const Member& member,
                                 const FormedProof& proof);

// Whether it is worth a moment to wait for the rest of the formation: what is known of all of them
// at once is written down once.
//
// Guarantees   not longer than kRestOfFormation after a quorum has answered. Nothing is risked by
//              it: before it is written down that the cluster has formed, no client is sent there.
[[nodiscard]] bool awaits_rest_of_formation(const Situation& now);
inline constexpr auto kRestOfFormation = std::chrono::seconds(2);

// The identity of a member with all that is known now, to be written down: what its witnesses say,
// and what the proof or its own verified answer adds.
[[nodiscard]] api::Identity known_identity(const Situation& now, const Member& member,
                                           const FormedProof* proof);

// The member is known to have been one, and is none any more.
//
// Guarantees   said only by a roster that was read linearizably in this attempt through a voter of
//              this very cluster, which has neither the member's ID nor its peer URL, and which
//              has applied all that any member was known to have applied. etcd never lists an ID
//              again that it has removed, so this cannot become untrue; whoever was not yet added
//              (Member::is_pending) is not meant.
// Caveats      an older copy of the data, from before the member was added, does not list it
//              either. It is known by its applied index as long as it has not taken as many new
//              entries as it lacks; the floor, which is raised at every change of the voters
//              (floor.h), keeps it from starting at all.
[[nodiscard]] bool has_left(const Situation& now, const Member& member);

}  // namespace quorate::plan

#pragma once

#include "plan/situation.h"

namespace quorate::plan {

// The raft floor: how far a member's log went at least, so that the launch guard can tell an older
// copy of its data (docs/launch.md).
//
// `known` is what is going to stand on record, claim and Pod of the member; the floor in it is
// raised if something is written there anyway, when the number of voters has changed, and else once
// a day: an idle cluster is not written to because its log grows.
//
// Why the number of voters: a copy from when there were fewer of them needs fewer to be a quorum;
// from when there was one, it leads alone, serves, and says that the others are no members. With a
// floor behind the change the guard does not let it start.
//
// Guarantees   the floor is an applied index that this very member stated, of this cluster, under
//              this ID, and is only raised. The member has that entry on disk: etcd syncs an entry
//              before it applies it, and a snapshot before it takes it over.
[[nodiscard]] api::Identity raise_floor(const Situation& now, const Member& member,
                                        api::Identity known);

inline constexpr auto kFloorPeriod = std::chrono::hours(24);

}  // namespace quorate::plan

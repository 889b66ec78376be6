#pragma once

#include "plan/situation.h"

namespace quorate::plan {

// The raft floor: how far a member's log went at least, so that the launch guard can tell an older
// copy of its data (docs/launch.md).
//
// `known` is what is going to stand on record, claim and Pod of the member; the floor in it is
// raised if something is written there anyway, and else once a day: an idle cluster is not written
// to because its log grows.
//
// Guarantees   the floor is an applied index that this very member stated, of this cluster, under
//              this ID, and is only raised. The member has that entry on disk: etcd syncs an entry
//              before it applies it, and a snapshot before it takes it over.
[[nodiscard]] api::Identity raise_floor(const Situation& now, const Member& member,
                                        api::Identity known);

inline constexpr auto kFloorPeriod = std::chrono::hours(24);

}  // namespace quorate::plan

#pragma once

#include "plan/situation.h"

// When a member's data counts as lost by what Kubernetes says. Needs a target.
namespace quorate::plan {

// Nothing of the member is left, and it was there once: its formation had come further than writing
// records.
[[nodiscard]] bool is_gone(const Situation& now, const Member& member);

// Its volume is not there (any more), though its Pod may have run on it: gone, of another UID, or
// bound to its Pod and gone with it.
[[nodiscard]] bool is_lost(const Situation& now, const Member& member);

// Since when a node that is gone keeps the member from running: Kubernetes does not hear from the
// node any more, its Pod was to have ended and nobody ends it, or no node is left that its volume
// can be on. Nothing if none of that is so, or if it answers all the same.
[[nodiscard]] std::optional<WallTime> cut_off_since(const Member& member);

}  // namespace quorate::plan

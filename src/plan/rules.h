#pragma once

#include "plan/decide.h"
#include "plan/situation.h"

// The rules, one file each, in the order in which they are asked. Each states its guarantees beside
// its code.
namespace quorate::plan {

[[nodiscard]] Finding ownership(const Situation& now);
[[nodiscard]] Finding teardown(const Situation& now);
[[nodiscard]] Finding pause(const Situation& now);
[[nodiscard]] Finding validity(const Situation& now);
[[nodiscard]] Finding ensure(const Situation& now);
[[nodiscard]] Finding doubt(const Situation& now);
[[nodiscard]] Finding settle(const Situation& now);
[[nodiscard]] Finding bootstrap(const Situation& now);
[[nodiscard]] Finding revive(const Situation& now);
[[nodiscard]] Finding quorum_loss(const Situation& now);
[[nodiscard]] Finding hibernate(const Situation& now);
[[nodiscard]] Finding heal(const Situation& now);
[[nodiscard]] Finding promote(const Situation& now);
[[nodiscard]] Finding nudge(const Situation& now);
[[nodiscard]] Finding resize(const Situation& now);
[[nodiscard]] Finding roll(const Situation& now);
[[nodiscard]] Finding rotate(const Situation& now);

// Parts of `ensure`: what all members share, the objects of each member, and what people want to
// find on them.
[[nodiscard]] Finding ensure_shared(const Situation& now);
[[nodiscard]] Finding ensure_members(const Situation& now);
[[nodiscard]] Finding ensure_metadata(const Situation& now);

}  // namespace quorate::plan

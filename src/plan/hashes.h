#pragma once

#include <optional>
#include <string>

#include "plan/situation.h"

// Whether members of one cluster hold the same data, by the hashes that they give of it.
namespace quorate::plan {

inline constexpr std::string_view kHashesDiffer = "HashesDiffer";

// How soon again once two have differed: one difference proves nothing (a compaction may have been
// under way), a second one does.
inline constexpr Duration kHashAgain = std::chrono::seconds(10);
// How often, at least, while the cluster is in doubt for it.
inline constexpr Duration kHashInDoubt = std::chrono::minutes(10);

// What is known of members whose data differ, for people; nothing if nobody's is known to. Two
// members differ if both of the last two rounds say so.
//
// Guarantees   only hashes of one revision, taken over the same compaction, by members of one minor
//              version are compared: others differ for equal data. What status says of a
//              difference holds until all voters were compared and agree: an operator that starts
//              is not without doubt, and silence of the one that differs mends nothing.
[[nodiscard]] std::optional<std::string> find_difference(const Situation& now);

// Whether the members are to be asked at the next look: every
// `hash_every` (a fleet spread over that time, by UID), when somebody votes who was not asked yet,
// and again after a difference.
[[nodiscard]] bool wants_hashes(const Situation& now);
// When in that time a cluster's first turn is.
[[nodiscard]] Duration hash_turn(const Uid& cluster, Duration every);
// Whether a difference waits for its second round.
[[nodiscard]] bool suspects_difference(const Situation& now);

}  // namespace quorate::plan

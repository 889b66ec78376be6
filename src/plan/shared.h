#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/situation.h"

// What there is to know about the objects that all members share.
namespace quorate::plan {

// Those that a cluster of this spec has, authorities before what they issue.
[[nodiscard]] std::vector<Shared> needed_shared(const api::ClusterSpec& spec);
[[nodiscard]] bool is_authority(Shared which);
[[nodiscard]] std::optional<Shared> authority_of(Shared leaf);
[[nodiscard]] std::vector<std::string> names_of_leaf(Shared leaf, const Observation& seen);
[[nodiscard]] std::string title_of(Shared which, std::string_view cluster);  // Service c-peer
[[nodiscard]] std::string fingerprint_of(Shared which, const Situation& now, int min_available);

// Clocks of nodes that run behind shall believe a certificate that was made just now: it is valid
// from that long before.
inline constexpr auto kClockSlack = std::chrono::minutes(10);

// A certificate is renewed when two thirds of its life are over.
[[nodiscard]] WallTime renewal_time(const CertificateFacts& certificate);

// When one is introduced beside an authority, half of what was left of its life is over: members
// that do not trust the next one yet are restarted from now on, whatever else is wanted.
[[nodiscard]] WallTime pressing_time(const CertificateFacts& authority);

// Whom a Pod trusts that mounts what is there now, as a fingerprint; empty if that is not known, or
// if nothing is mounted.
[[nodiscard]] std::string trust_of(const Situation& now);
// When the old one of two trusted authorities is retired: a day after its last certificate was
// replaced, so that clients can take up theirs (of short-lived authorities, a twentieth of their
// life).
[[nodiscard]] WallTime retirement_time(const Situation& now, const SharedFacts& authority);
// The Secrets that an authority issues certificates for.
[[nodiscard]] std::vector<Shared> leaves_of(Shared authority);

// What a Pod needs to start is there, ours and usable: peer Service and mounted Secrets.
[[nodiscard]] bool pods_can_start(const Situation& now);

}  // namespace quorate::plan

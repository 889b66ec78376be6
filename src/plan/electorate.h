#pragma once

#include <vector>

#include "plan/situation.h"

// Who can be counted on in a formed cluster, by what its members said in this attempt.
namespace quorate::plan {

// How far behind the leader's a member's applied index may be to count as near. Members are asked
// one after the other, and what is written meanwhile must not make them look slow.
inline constexpr std::uint64_t kNearEntries = 5000;

struct Electorate {
  std::vector<const Member*> voters;    // by the roster
  std::vector<const Member*> learners;  // by the roster
  // Voters that can be counted on: each answered a linearizable read in this attempt as the member
  // that it should be, follows the same leader in the same term, has applied about as much as the
  // leader has, and is not about to be stopped: neither is its Pod being deleted, nor was another
  // image given to it that it does not run yet.
  std::vector<const Member*> healthy;
  const Member* leader = nullptr;  // whom they follow; one of them

  int quorum() const { return static_cast<int>(voters.size()) / 2 + 1; }
  bool is_healthy(const Member& member) const;
  bool all_healthy() const { return !voters.empty() && healthy.size() == voters.size(); }
};

// Everything in it is empty without a roster.
[[nodiscard]] Electorate find_electorate(const Situation& now);

// The learner follows the leader, and has applied about as much.
[[nodiscard]] bool is_in_sync(const Situation& now, const Electorate& all, const Member& learner);

// Voters that cannot be counted on, by name: "c-1, c-4".
[[nodiscard]] std::string names_of_unhealthy(const Electorate& all, const Member* but = nullptr);

}  // namespace quorate::plan

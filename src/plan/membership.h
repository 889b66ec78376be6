#pragma once

#include <string_view>
#include <vector>

#include "plan/electorate.h"
#include "plan/verdict.h"

// What the rules share that change the membership of a formed cluster.
namespace quorate::plan {

// Members that do not come back: their data is lost, by what Kubernetes or the launch guard says,
// or they do not get to run as they are and cannot be changed without losing it, or a node that is
// gone has kept them from running for longer than `recovery.replaceAfter`. Those
// among them that were marked as removed and are listed all the same.
[[nodiscard]] std::vector<const Member*> find_lost(const Situation& now);
[[nodiscard]] bool is_beyond_return(const Situation& now, const Member& member);

// The member through which etcd is told of a change: the leader.
[[nodiscard]] Contact contact(const Situation& now, const Member& leader);

// Takes the member off etcd's list.
[[nodiscard]] Finding remove(const Situation& now, std::string_view rule, const Member& victim,
                             const Permit& permit, const std::string& why);
// Lets another voter lead, because this one, which leads, is to be disturbed.
[[nodiscard]] Finding move_leadership(const Situation& now, std::string_view rule,
                                      const Member& from);

// How many members are wanted for now: as many as are declared, and one more while one has to be
// replaced that has not gone yet.
[[nodiscard]] int wanted_members(const Situation& now);
// As many as that are there, none of them on its way.
[[nodiscard]] bool is_sized(const Situation& now);

// The member that `resize` is about to remove, if nothing but its clients is in the way: it is not
// to serve any more. nullptr if there is none.
[[nodiscard]] const Member* find_leaver(const Situation& now);

}  // namespace quorate::plan

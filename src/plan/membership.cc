#include "plan/membership.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/formation.h"
#include "plan/gate.h"
#include "plan/loss.h"
#include "plan/pods.h"
#include "plan/trouble.h"

namespace quorate::plan {

bool is_beyond_return(const Situation& now, const Member& member) {
  if (!now.is_of_formation(member)) return false;
  if (member.identity.removed) return member.listed != nullptr;
  if (member.is_pending() || has_left(now, member)) return false;
  if (is_lost(now, member) || has_lost_data(member)) return true;
  if (is_stuck(member) && must_be_replaced(now, member)) return true;
  const auto since = cut_off_since(member);
  return since && now.seen.now.wall >= *since + now.target->recovery.replace_after;
}

std::vector<const Member*> find_lost(const Situation& now) {
  std::vector<const Member*> out;
  for (const auto& member : now.members)
    if (is_beyond_return(now, member)) out.push_back(&member);
  return out;
}

Contact contact(const Situation& now, const Member& leader) {
  return {leader.pod->name, leader.pod->uid, *now.cluster_id, leader.answer->member_id};
}

Finding remove(const Situation& now, std::string_view rule, const Member& victim,
               const Permit& permit, const std::string& why) {
  const auto all = find_electorate(now);
  RemoveMember step{permit, victim.name, victim.listed->id, contact(now, *all.leader)};
  Finding out;
  out.verdicts.push_back(
      now.acts(rule, "RemovingMember",
               fmt::format("{}; removes {} ({})", why, victim.name, victim.listed->id.text())));
  out.stages.push_back({{std::move(step)}, true});
  out.rest = Finding::Rest::kHarmless;
  return out;
}

Finding move_leadership(const Situation& now, std::string_view rule, const Member& from) {
  const auto all = find_electorate(now);
  Finding out;
  out.rest = Finding::Rest::kHarmless;
  for (const auto* to : all.healthy) {
    if (to == &from) continue;
    auto permit = QuorumGate::move_leader(now, from, *to);
    if (!permit) {
      out.verdicts.push_back(now.blocked(rule, permit.error().code, permit.error().message));
      return out;
    }
    out.verdicts.push_back(now.acts(rule, "MovingLeadership",
                                    fmt::format("{} leads and has to hand over", from.name)));
    out.stages.push_back(
        {{MoveLeader{*permit, to->name, to->answer->member_id, contact(now, from)}}, true});
    return out;
  }
  out.verdicts.push_back(
      now.blocked(rule, "NoSuccessor", fmt::format("nobody can lead in place of {}", from.name)));
  return out;
}

}  // namespace quorate::plan

#include "plan/electorate.h"

#include <algorithm>

#include "plan/pods.h"

namespace quorate::plan {
namespace {

bool answers_live(const Situation& now, const Member& member) {
  return now.live_answer(member) && now.verified(member) && member.answer->members && member.pod &&
         !member.pod->deleting && !is_reimaging(member);
}

// Of those who say that they lead themselves, the one of the highest term.
const Member* find_leader(const Situation& now, const std::vector<const Member*>& voters) {
  const Member* leader = nullptr;
  for (const auto* member : voters)
    if (answers_live(now, *member) && member->answer->leader == member->answer->member_id &&
        (!leader || leader->answer->term < member->answer->term))
      leader = member;
  return leader;
}

bool is_near(const Member& member, const Member& leader) {
  return member.answer->applied.value() + kNearEntries >= leader.answer->applied.value();
}

bool follows(const Member& member, const Member& leader) {
  return member.answer->leader == leader.answer->member_id &&
         member.answer->term == leader.answer->term;
}

}  // namespace

bool Electorate::is_healthy(const Member& member) const {
  return std::find(healthy.begin(), healthy.end(), &member) != healthy.end();
}

Electorate find_electorate(const Situation& now) {
  Electorate out;
  if (!now.roster) return out;
  for (const auto& member : now.members) {
    if (!member.listed) continue;
    (member.listed->learner ? out.learners : out.voters).push_back(&member);
  }
  out.leader = find_leader(now, out.voters);
  if (!out.leader) return out;
  for (const auto* member : out.voters)
    if (now.is_current(*member) && answers_live(now, *member) && follows(*member, *out.leader) &&
        is_near(*member, *out.leader))
      out.healthy.push_back(member);
  return out;
}

bool is_in_sync(const Situation& now, const Electorate& all, const Member& learner) {
  if (!all.leader || !now.live_answer(learner) || !learner.pod || learner.pod->deleting)
    return false;
  const auto& answer = *learner.answer;
  return answer.learner && answer.cluster_id == *now.cluster_id &&
         learner.identity.member_id == answer.member_id && follows(learner, *all.leader) &&
         is_near(learner, *all.leader);
}

std::string names_of_unhealthy(const Electorate& all, const Member* but) {
  std::string out;
  for (const auto* member : all.voters)
    if (member != but && !all.is_healthy(*member)) out += (out.empty() ? "" : ", ") + member->name;
  return out;
}

}  // namespace quorate::plan

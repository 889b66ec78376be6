#include "plan/rules.h"

// Two witnesses of the cluster's identity contradict each other.
//
// Guarantees   no disruptive step, no new Pod and no new endpoint until a person has resolved it;
//              what runs is left running, but clients are kept away from a member that answers as
//              somebody else.
// Caveats      comparing IDs does not find members of one identity whose data differ (E3); that
//              needs their hashes.
namespace quorate::plan {
namespace {

bool answers_as_another(const Situation& now, const Member& member) {
  if (!member.answer) return false;
  return (now.formed && member.answer->cluster_id != *now.cluster_id) ||
         (member.identity.member_id && member.answer->member_id != *member.identity.member_id);
}

}  // namespace

Finding doubt(const Situation& now) {
  if (now.contradiction.empty()) return {};
  Finding finding;
  finding.rest = Finding::Rest::kNothing;
  finding.verdicts.push_back(now.blocked("doubt", "IdentityInDoubt", now.contradiction, true));
  Stage keep_away;
  for (const auto* member : now.current())
    if (member->pod && member->pod->serving && answers_as_another(now, *member))
      keep_away.steps.push_back(SetServing{member->pod->name, member->pod->uid, false});
  if (!keep_away.steps.empty()) finding.stages.push_back(std::move(keep_away));
  return finding;
}

}  // namespace quorate::plan

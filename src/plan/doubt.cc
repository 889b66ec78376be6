#include <fmt/format.h>

#include "plan/rules.h"

// Two witnesses of the cluster's identity contradict each other, etcd lists somebody whom we do not
// know, or a member says that data is corrupt.
//
// Guarantees   no disruptive step until a person has resolved it. While identity itself is in
//              doubt, no new Pod and no new endpoint either; what runs is left running, but clients
//              are kept away from a member that answers as somebody else.
// Caveats      comparing IDs does not find members of one identity whose data differ (E3); that
//              needs their hashes.
namespace quorate::plan {
namespace {

bool answers_as_another(const Situation& now, const Member& member) {
  if (!member.answer) return false;
  return (now.formed && member.answer->cluster_id != *now.cluster_id) ||
         (member.identity.member_id && member.answer->member_id != *member.identity.member_id);
}

// Members can be kept running, and are; nobody is added, removed or promoted.
Finding doubt_members(const Situation& now) {
  Finding finding;
  if (!now.strangers.empty())
    finding.verdicts.push_back(now.blocked(
        "doubt", "UnknownMember",
        fmt::format("etcd lists member {}, which was not added by this operator or bears another "
                    "ID than its record; remove it, or bring back what belongs to it",
                    now.strangers.front()),
        true));
  for (const auto* member : now.current())
    if (member->answer && member->answer->corrupt) {
      finding.verdicts.push_back(now.blocked(
          "doubt", "CorruptAlarm",
          fmt::format("{} says that there is an alarm of corrupt data", member->name), true));
      break;
    }
  if (!finding.verdicts.empty()) finding.rest = Finding::Rest::kHarmless;
  return finding;
}

}  // namespace

Finding doubt(const Situation& now) {
  if (now.contradiction.empty()) return doubt_members(now);
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

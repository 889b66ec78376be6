#include <fmt/format.h>

#include "plan/doubts.h"
#include "plan/hashes.h"
#include "plan/rules.h"

// Two witnesses of the cluster's identity contradict each other, etcd lists somebody whom we do not
// know, a member says that data is corrupt, a quorum answers that lacks what was committed (E15),
// or members of one identity hold different data (E2, E3), which etcd itself does not notice.
//
// Guarantees   no disruptive step until a person has resolved it. While identity itself is in
//              doubt, no new Pod and no new endpoint either; what runs is left running, but clients
//              are kept away from a member that answers as somebody else, or on an older copy of
//              its data; what such a member says of the membership is not believed (situation.h,
//              `lacks_entries`), so nobody is given up on its word. One difference of hashes
//              freezes nothing: a second question, at another time, has to give it as well.
// Assumptions  hashes of one revision and one compaction, by members of one minor version, are
//              equal for equal data (hashes.h).
// Caveats      a difference is found at the next comparison, within an hour; what is compacted
//              away by then is not compared. Who is right is not decided: a majority may be wrong.
namespace quorate::plan {
namespace {

bool answers_as_another(const Situation& now, const Member& member) {
  if (!member.answer) return false;
  return (now.formed && member.answer->cluster_id != *now.cluster_id) ||
         (member.identity.member_id && member.answer->member_id != *member.identity.member_id);
}

template <class Predicate>
void keep_clients_from(Finding& finding, const Situation& now, Predicate is_wrong) {
  Stage keep_away;
  for (const auto* member : now.current())
    if (member->pod && member->pod->serving && is_wrong(*member))
      keep_away.steps.push_back(SetServing{member->pod->name, member->pod->uid, false});
  if (!keep_away.steps.empty()) finding.stages.push_back(std::move(keep_away));
}

// Members can be kept running, and are; nobody is added, removed or promoted.
Finding doubt_members(const Situation& now) {
  Finding finding;
  for (auto& reason : find_doubts(now))
    finding.verdicts.push_back(
        now.blocked("doubt", std::move(reason.code), std::move(reason.message), true));
  if (!finding.verdicts.empty()) finding.rest = Finding::Rest::kHarmless;
  keep_clients_from(finding, now, [&](const Member& member) { return now.lacks_entries(member); });
  return finding;
}

}  // namespace

std::vector<Reason> find_doubts(const Situation& now) {
  std::vector<Reason> out;
  if (!now.strangers.empty())
    out.push_back({"UnknownMember",
                   fmt::format("etcd lists member {}, which was not added by this operator or "
                               "bears another ID than its record; remove it, or bring back what "
                               "belongs to it",
                               now.strangers.front())});
  for (const auto* member : now.current())
    if (now.lacks_entries(*member)) {
      out.push_back({"OlderData",
                     fmt::format("{} answers for a quorum that has applied {} entries, fewer than "
                                 "were committed: its volume is an older copy; stop it, and bring "
                                 "the other members back",
                                 member->name, member->answer->applied.value())});
      break;
    }
  for (const auto* member : now.current())
    if (member->answer && member->answer->corrupt) {
      out.push_back({"CorruptAlarm",
                     fmt::format("{} says that there is an alarm of corrupt data", member->name)});
      break;
    }
  if (auto difference = find_difference(now))
    out.push_back(
        {std::string(kHashesDiffer),
         fmt::format("{}; find out whose is right, and remove the other members from etcd",
                     *difference)});
  return out;
}

Finding doubt(const Situation& now) {
  if (now.contradiction.empty()) return doubt_members(now);
  Finding finding;
  finding.rest = Finding::Rest::kNothing;
  finding.verdicts.push_back(now.blocked("doubt", "IdentityInDoubt", now.contradiction, true));
  keep_clients_from(finding, now,
                    [&](const Member& member) { return answers_as_another(now, member); });
  return finding;
}

}  // namespace quorate::plan

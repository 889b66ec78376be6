#include <fmt/format.h>

#include <algorithm>

#include "plan/electorate.h"
#include "plan/gate.h"
#include "plan/rules.h"

// What we wrote down of the members and what etcd says of them is brought together again.
//
// How it goes. A call whose answer was lost leaves its intent in status; nothing disruptive is done
// until it can have no effect any more, and then the list is read: whatever it says is so. Whoever
// is on the list is adopted by its peer URL (its ID is written on record, claim and Pod by
// `ensure`), and votes or learns as the list says. Whoever was on the list and is not any more is
// marked as removed (formation.h, `has_left`), on record and claim before anything else; then its
// Pod is deleted, then its volume if that is declared, and last its record.
//
// Guarantees   no Pod is made for a member that was removed, on whatever of its data: two of them
//              together could be a quorum of a membership that is long gone. Nothing of a member is
//              deleted while etcd lists it. An ordinal is not used twice: before the record of the
//              highest one goes, another record remembers it.
// Assumptions  an entry of etcd's log is committed, or lost, within kUnresolvedFor of the call, as
//              long as a quorum answers at the end of that time.
// Caveats      should an addition take effect even later, a learner is listed of which nothing is
//              left; `heal` removes it.
namespace quorate::plan {
namespace {

constexpr std::string_view kRule = "settle";

Finding hold(const Situation& now, std::string code, std::string message) {
  return say(now.waiting(kRule, std::move(code), std::move(message)), Finding::Rest::kHarmless);
}

// ---- Roles ----

void note_roles(const Situation& now, Stage& notes) {
  for (const auto* member : now.current()) {
    if (!member->listed) continue;
    const auto role = member->listed->learner ? api::MemberRole::kLearner : api::MemberRole::kVoter;
    if (member->record && !member->record->deleting && member->record->spec.role != role)
      notes.steps.push_back(NoteRole{member->name, member->record->uid, role});
    const bool votes = role == api::MemberRole::kVoter;
    if (member->pod && !member->pod->deleting && member->pod->voter != votes)
      notes.steps.push_back(SetVoter{member->pod->name, member->pod->uid, votes});
  }
}

// ---- What is left of members that were removed ----

// Every witness says so before anything is deleted.
void note_removed(const Member& member, Stage& notes) {
  if (member.contradicted) return;
  if (member.record && !member.record->deleting && !member.record->spec.identity.removed)
    notes.steps.push_back(NoteOnRecord{member.name, member.record->uid, member.identity});
  if (member.claim && !member.claim->deleting && !member.claim->identity->removed)
    notes.steps.push_back(NoteOnClaim{member.claim->name, member.claim->uid, member.identity});
}

// The record of somebody else says that this ordinal was used.
bool is_remembered(const Situation& now, Ordinal ordinal) {
  const auto all = now.current();
  return std::any_of(all.begin(), all.end(), [&](const Member* member) {
    if (!member->record || member->record->deleting) return false;
    return member->ordinal > ordinal || member->record->spec.last_ordinal >= ordinal;
  });
}

void remember_ordinal(const Situation& now, const Member& gone, Stage& notes) {
  for (const auto* member : now.current()) {
    if (!member->record || member->record->deleting) continue;
    notes.steps.push_back(NoteLastOrdinal{member->name, member->record->uid, gone.ordinal});
    return;
  }
}

// The next things of it that can go: Pod, then volume, then record.
std::optional<DiscardMember> discard(const Situation& now, const Member& member,
                                     const Permit& permit) {
  DiscardMember step{permit, member.name, {}, {}, {}};
  const bool keeps = now.target->storage.retention.when_scaled == api::Retention::kRetain;
  if (member.pod) {
    if (!member.pod->deleting) step.pods.push_back({member.pod->name, member.pod->uid});
  } else if (member.claim && !keeps) {
    if (!member.claim->deleting) step.claims.push_back({member.claim->name, member.claim->uid});
  } else if (member.record && !member.record->deleting && is_remembered(now, member.ordinal)) {
    step.records.push_back({member.record->name, member.record->uid});
  }
  if (step.pods.empty() && step.claims.empty() && step.records.empty()) return std::nullopt;
  return step;
}

// Its Pod has to end, and Kubernetes hears nothing of the node that it is on. Whether that ever
// returns is not for us to say, and nothing that was declared depends on it: it was replaced.
Waiting wait_for_the_last_of(const Situation& now, const Member& member) {
  if (!member.pod || !member.pod->deleting || !member.pod->node_silent_since)
    return now.waiting(kRule, "MemberLeaving",
                       fmt::format("{} was removed and is going", member.name));
  auto out = now.waiting(
      kRule, "NodeAway",
      fmt::format("{} was removed; Pod {} stays until node {} returns, or is deleted from "
                  "Kubernetes",
                  member.name, member.pod->name, member.pod->node));
  out.deadline.reset();
  out.aside = true;
  return out;
}

bool is_left_over(const Situation& now, const Member& member) {
  const bool keeps = now.target->storage.retention.when_scaled == api::Retention::kRetain;
  return member.record || member.pod || (member.claim && !keeps);
}

// One after the other.
void discard_removed(const Situation& now, Finding& out, Stage& notes) {
  for (const auto* member : now.removed()) {
    note_removed(*member, notes);
    if (!is_left_over(now, *member) || member->listed) continue;
    if (member->record && !member->pod && !is_remembered(now, member->ordinal))
      remember_ordinal(now, *member, notes);
    auto permit = QuorumGate::discard_member(now, *member);
    if (!permit) {
      out.verdicts.push_back(now.waiting(kRule, permit.error().code, permit.error().message));
      continue;
    }
    auto step = notes.steps.empty() ? discard(now, *member, *permit) : std::nullopt;
    if (!step) {
      out.verdicts.push_back(wait_for_the_last_of(now, *member));
      continue;
    }
    out.verdicts.push_back(
        now.acts(kRule, "DiscardingMember",
                 fmt::format("deletes what is left of {}, which was removed", member->name)));
    out.stages.push_back({{std::move(*step)}, false});
    out.rest = Finding::Rest::kHarmless;
    return;
  }
}

}  // namespace

Finding settle(const Situation& now) {
  if (!now.formed || !now.target || !now.formation) return {};
  if (now.unresolved())
    return hold(now, "OutcomeUnknown",
                fmt::format("it is not known yet what became of: {}",
                            now.seen.cluster.status->intent->step));
  if (const auto* refused = now.find_refused())
    return hold(now, "StepRefused",
                fmt::format("{} {} is tried again in a moment: {}", refused->operation,
                            refused->object, refused->message));
  if (now.rosters_differ)
    return hold(now, "ListsDiffer", "members read different member lists; asks them again");
  if (now.hibernates() && !now.roster) return {};  // nobody can be asked: when they are awake
  Finding out;
  Stage notes;
  note_roles(now, notes);
  discard_removed(now, out, notes);
  if (!notes.steps.empty()) {
    out.verdicts.push_back(
        now.acts(kRule, "Settling", "writes down what etcd says of the members"));
    out.stages.insert(out.stages.begin(), std::move(notes));
  }
  return out;
}

}  // namespace quorate::plan

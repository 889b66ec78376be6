#include <fmt/format.h>

#include "plan/electorate.h"
#include "plan/gate.h"
#include "plan/loss.h"
#include "plan/membership.h"
#include "plan/rules.h"
#include "plan/trouble.h"

// Removes the identity of a member that can never come back, so that `resize` adds another.
//
// How it goes. With up to four voters the lost one is removed first, because etcd takes no new
// member while one of three is down (E6). With five and more a learner is added first, if etcd lets
// it: the lost vote stays usable while the data is copied, and goes when the learner is in sync.
//
// Guarantees   a member whose data is lost never runs again under its ID (E1, E3, E15): it is not
//              started, and its replacement has another ordinal, another ID and an empty volume. It
//              is removed only if the others stand without it (gate.h), never below quorum, one at
//              a time. Its volume is kept until etcd does not list it any more.
// Assumptions  that data is lost is a fact of Kubernetes (claim or Pod-bound Pod gone), of the
//              launch guard, or of etcd itself, never a conclusion from silence. etcd's own word is
//              one alone: that its leader holds entries to be committed which it does not have. A
//              leader says that of no more than what the member acknowledged to it in its term, and
//              what is acknowledged was synced; so the log was exchanged for an older one, above
//              the floor, which the guard cannot know. It would never come up under this leader;
//              under another one it would, as a voter who forgot what it voted for (E15). A node
//              that is gone may still run what it ran; that member has its data, and raft bears it:
//              it cannot win a vote of those who removed it, and one alone is no quorum of any
//              membership.
// Caveats      a member that keeps failing with its data in place, and whose log neither the launch
//              guard nor its leader finds wanting, is told of, and not replaced. An older copy that
//              meets a new leader is not noticed. How long a node has been gone is measured from
//              Kubernetes' word by the operator's wall clock: one that is behind waits for so much
//              longer, one that is ahead for so much less.
namespace quorate::plan {
namespace {

constexpr std::string_view kRule = "heal";

std::string why_lost(const Member& member) {
  if (member.identity.removed) return "it was given up before etcd listed it";
  if (auto report = guard_report(member)) return report->reason;
  if (log_is_short(member))
    return "its log lacks entries that it had acknowledged: its volume is an older copy";
  if (cut_off_since(member)) return "its node is gone";
  return member.exists() ? "its volume is gone" : "nothing of it is left";
}

// Learners first: they are cheap.
const Member* choose(const std::vector<const Member*>& lost) {
  for (const auto* member : lost)
    if (member->listed && member->listed->learner) return member;
  for (const auto* member : lost)
    if (member->listed) return member;
  return nullptr;
}

// A replacement is to be there before the lost one goes, and is not yet.
bool waits_for_learner(const Situation& now, const Electorate& all, const Member& lost) {
  if (lost.listed->learner || all.voters.size() < 5) return false;
  const auto wanted = static_cast<int>(all.voters.size() + 1) / 2 + 1;
  if (static_cast<int>(all.healthy.size()) < wanted) return false;
  return all.learners.empty() || !is_in_sync(now, all, *all.learners.front());
}

// Who may still return before its time is up.
void tell_cut_off(const Situation& now, Finding& out) {
  for (const auto* member : now.current()) {
    const auto since = cut_off_since(*member);
    if (!since || is_beyond_return(now, *member)) continue;
    auto wait = now.waiting(kRule, "NodeGone",
                            fmt::format("{} is kept from running by a node that is gone; it is "
                                        "replaced if the node does not return",
                                        member->name));
    wait.deadline = *since + now.target->recovery.replace_after;
    out.verdicts.push_back(std::move(wait));
  }
}

std::string describe(const Member& lost) {
  return fmt::format("{} does not come back ({})", lost.name, why_lost(lost));
}

// All who are lost are named: who reads it has to know what is left.
Finding tell(const Situation& now, const std::vector<const Member*>& lost, const Reason& reason) {
  std::string loss;
  for (const auto* member : lost) loss += (loss.empty() ? "" : "; ") + describe(*member);
  return say(now.blocked(kRule, "MemberDataLost", fmt::format("{}; {}", loss, reason.message)),
             Finding::Rest::kHarmless);
}

}  // namespace

Finding heal(const Situation& now) {
  if (!now.formed || !now.target) return {};
  const auto lost = find_lost(now);
  if (lost.empty()) {
    Finding out;
    tell_cut_off(now, out);
    return out;
  }
  const auto* victim = choose(lost);
  if (!victim) return tell(now, lost, {"AskingMembers", "the members have to be asked"});
  const auto loss = describe(*victim);
  const auto all = find_electorate(now);
  if (waits_for_learner(now, all, *victim))
    return say(now.waiting(kRule, "ReplacingMember", loss + "; another one learns first"));
  auto permit = QuorumGate::remove_member(now, *victim);
  if (!permit && permit.error().code == "Leads") return move_leadership(now, kRule, *victim);
  if (!permit) return tell(now, lost, permit.error());
  return remove(now, kRule, *victim, *permit, loss);
}

}  // namespace quorate::plan

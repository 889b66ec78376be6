#include <fmt/format.h>

#include <algorithm>

#include "plan/gate.h"
#include "plan/membership.h"
#include "plan/rules.h"

// A learner that has all that the leader has gets its vote.
//
// Guarantees   not before it is in sync, and every voter healthy (gate.h); not more voters than are
//              wanted; one at a time. Its Pod is labelled for the disruption budget, and clients
//              are sent to it, only after etcd lists it as a voter.
// Caveats      between one voter and three there are two, of which none may fail: the third is
//              added at once.
namespace quorate::plan {
namespace {

constexpr std::string_view kRule = "promote";

const Member* find_learner(const Situation& now) {
  for (const auto* member : now.current())
    if (member->listed && member->listed->learner && !is_beyond_return(now, *member)) return member;
  return nullptr;
}

}  // namespace

Finding promote(const Situation& now) {
  if (!now.formed || !now.target || !now.roster) return {};
  const auto* learner = find_learner(now);
  if (!learner) return {};
  const auto all = find_electorate(now);
  const auto voters = std::count_if(all.voters.begin(), all.voters.end(), [&](const Member* one) {
    return !is_beyond_return(now, *one);
  });
  if (voters >= wanted_members(now)) return {};  // it is one too many: `resize`
  auto permit = QuorumGate::promote_learner(now, *learner);
  if (!permit) return say(now.waiting(kRule, permit.error().code, permit.error().message));
  Finding out;
  out.verdicts.push_back(
      now.acts(kRule, "PromotingLearner", fmt::format("{} gets its vote", learner->name)));
  out.stages.push_back(
      {{PromoteLearner{*permit, learner->name, learner->listed->id, contact(now, *all.leader)}},
       true});
  out.rest = Finding::Rest::kHarmless;
  return out;
}

}  // namespace quorate::plan

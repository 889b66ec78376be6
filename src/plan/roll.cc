#include <fmt/format.h>

#include "base/strings.h"
#include "plan/gate.h"
#include "plan/membership.h"
#include "plan/pods.h"
#include "plan/restart.h"
#include "plan/rules.h"
#include "plan/update.h"

// Restarts members that are not as declared, one after the other.
//
// How it goes. A Pod carries the fingerprint of what was declared when it was made. Where that
// differs from what is declared now, the member is restarted: those that cannot be counted on
// first, then followers, then the leader, which hands over before. Where the version differs and
// nothing else does, the Pod gets another image and etcd is restarted in it; else the Pod is
// deleted and `ensure` makes another on the same volume. The next one's turn comes when the one
// before is healthy, ready and serving again, and when spec.update lets it begin (update.h).
//
// Guarantees   at no time is more than one member down by our doing, and none while another is
//              missing (gate.h); a member never loses its data by it. A declaration that members
//              cannot run with stops at the first of them, and the others run on as they are. What
//              others change in a Pod (webhooks, autoscalers) restarts nobody, and neither does
//              another build of the operator: only what was declared is compared.
// Assumptions  patch versions of one minor release understand each other and each other's data.
// Caveats      of one or two members each is missed: clients notice. Members whose data goes with
//              their Pods are replaced instead, by `resize`.
namespace quorate::plan {
namespace {

constexpr std::string_view kRule = "roll";

std::vector<const Member*> find_outdated(const Situation& now) {
  std::vector<const Member*> out;
  for (const auto* member : now.current())
    if (is_outdated(now, *member) && !is_beyond_return(now, *member)) out.push_back(member);
  return out;
}

std::string names_of(const std::vector<const Member*>& members) {
  std::vector<std::string> names;
  for (const auto* member : members) names.push_back(member->name);
  return join(names, ", ");
}

// Those whom nothing holds; what holds the others, or the first of them. Who is not ready counts as
// failing as long as its voters were not asked.
struct Candidates {
  std::vector<const Member*> members;
  std::optional<Waiting> hold;
};
Candidates find_candidates(const Situation& now, const std::vector<const Member*>& outdated) {
  Candidates out;
  const auto all = find_electorate(now);
  for (const auto* member : outdated) {
    const bool failing =
        !member->pod->ready && !all.is_healthy(*member) && !must_be_replaced(now, *member);
    auto hold = find_hold(now, *member, failing);
    if (!hold) out.members.push_back(member);
    // What the members said made the difference: they are asked again.
    if (hold && !member->pod->ready && all.is_healthy(*member)) hold->calm = false;
    if (hold && (!out.hold || !hold->calm)) out.hold = std::move(hold);
  }
  return out;
}

const Member* choose(const Situation& now, const Electorate& all,
                     const std::vector<const Member*>& outdated) {
  auto rank = [&](const Member* member) {
    if (!all.is_healthy(*member)) return 0;
    return member == all.leader ? 2 : 1;
  };
  const Member* first = nullptr;
  for (const auto* member : outdated)
    if (!must_be_replaced(now, *member) && (!first || rank(member) < rank(first))) first = member;
  return first;
}

}  // namespace

Finding roll(const Situation& now) {
  if (!now.formed || !now.target || now.hibernates()) return {};
  const auto outdated = find_outdated(now);
  if (outdated.empty()) return {};
  const auto why =
      fmt::format("{} of {} members are not as declared", outdated.size(), now.current().size());
  const auto wait = [&](std::string code, std::string_view what) {
    return say(now.waiting(kRule, std::move(code), fmt::format("{}; {}", why, what)));
  };
  const auto candidates = find_candidates(now, outdated);
  if (candidates.members.empty()) {
    auto hold = *candidates.hold;
    hold.reason.message = fmt::format("{} ({}); {}", why, names_of(outdated), hold.reason.message);
    return say(std::move(hold));
  }
  if (!now.roster) return wait("AskingMembers", "the members have to be asked who they are");
  const auto all = find_electorate(now);
  const auto* next = choose(now, all, candidates.members);
  if (!next) return wait("ReplacingMembers", "their data goes with their Pods: they are replaced");
  if (!is_sized(now) || !all.learners.empty())
    return wait("MembersFirst", "members that come or go are first");
  auto permit = QuorumGate::restart_member(now, *next, compare(now, *next) == Difference::kImage);
  if (permit) return restart(now, kRule, *next, *permit, "is not as declared");
  if (permit.error().code == "Leads") return move_leadership(now, kRule, *next);
  return wait(permit.error().code, permit.error().message);
}

}  // namespace quorate::plan

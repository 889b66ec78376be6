#include <algorithm>

#include "plan/electorate.h"
#include "plan/gate.h"
#include "plan/pods.h"
#include "plan/restart.h"
#include "plan/rules.h"
#include "plan/situation.h"
#include "plan/trouble.h"
#include "tests/sim/museum/broken_rules.h"

// Operators that restart and rotate carelessly. Permits come from the production gate: what it is
// shown is not what was seen.
namespace quorate::sim {
namespace {

using plan::Finding;
using plan::Observation;
using plan::QuorumGate;
using plan::Situation;

// ---- Lies ----

// A voter that answered just now, and read the member list.
const plan::MemberAnswer* find_witness(const Observation& seen) {
  for (const auto& answer : seen.answers)
    if (answer.answered && answer.members && !answer.learner && answer.asked_at >= seen.began)
      return &answer;
  return nullptr;
}

std::optional<MemberId> id_of(const Observation& seen, const plan::PodFacts& pod) {
  for (const auto& record : seen.records)
    if (record.name == pod.name) return record.spec.identity.member_id;
  return std::nullopt;
}

// Every member that has such a Pod is ready, serves and answers as the witness does.
void are_well(Observation& seen, bool (*which)(const plan::PodFacts& pod)) {
  const auto* found = find_witness(seen);
  if (!found) return;
  const auto witness = *found;
  for (auto& pod : seen.pods) {
    const auto id = id_of(seen, pod);
    if (!id || !which(pod)) continue;
    pod.deleting = false;
    pod.deleting_since.reset();
    pod.reimaged_at.reset();
    pod.phase = plan::PodPhase::kRunning;
    pod.ready = pod.serving = pod.etcd.running = true;
    pod.etcd.waiting.reset();
    pod.etcd.terminated.reset();
    const auto theirs = [&](const plan::MemberAnswer& answer) {
      return answer.ordinal == pod.ordinal;
    };
    const auto given = std::find_if(seen.answers.begin(), seen.answers.end(), theirs);
    const bool answers = given != seen.answers.end() && given->answered && given->members &&
                         given->pod == pod.uid && given->asked_at >= seen.began;
    if (answers) continue;
    std::erase_if(seen.answers, theirs);
    auto made_up = witness;
    made_up.ordinal = pod.ordinal;
    made_up.pod = pod.uid;
    made_up.member_id = *id;
    seen.answers.push_back(std::move(made_up));
  }
}

void all_are_well(Observation& seen) {
  are_well(seen, [](const plan::PodFacts&) { return true; });
}
void reimaged_are_well(Observation& seen) {
  are_well(seen, [](const plan::PodFacts& pod) { return pod.reimaged_at.has_value(); });
}

// Whoever leads, it is another one.
void another_leads(Observation& seen) {
  std::optional<MemberId> leader, other;
  for (const auto& answer : seen.answers)
    if (answer.answered && answer.leader == answer.member_id) leader = answer.member_id;
  for (const auto& answer : seen.answers)
    if (answer.answered && !answer.learner && answer.member_id != leader) other = answer.member_id;
  if (!other) return;
  for (auto& answer : seen.answers) answer.leader = other;
}

// Nothing answers, and no container gets to run.
void all_are_stuck(Observation& seen) {
  seen.answers.clear();
  for (auto& pod : seen.pods) {
    pod.ready = pod.etcd.running = false;
    pod.etcd.terminated.reset();
    pod.etcd.waiting = "CrashLoopBackOff";
  }
}

template <plan::RuleFunction kRule, void (*kLie)(Observation&)>
Finding misled(const Situation& now) {
  auto seen = now.seen;
  kLie(seen);
  return kRule(plan::make_situation(seen));
}

// ---- Rolls ----

Finding restart(const Situation& now, const plan::Member& member, const QuorumGate::Answer& permit,
                plan::RuleFunction otherwise) {
  if (!permit) return otherwise(now);
  return plan::restart(now, "roll", member, *permit, "is not as declared");
}

bool is_in_place(const Situation& now, const plan::Member& member) {
  return plan::compare(now, member) == plan::Difference::kImage;
}

Finding roll_leader_first(const Situation& now) {
  if (!now.formed || !now.target || now.hibernates() || !now.roster) return plan::roll(now);
  const auto* leader = plan::find_electorate(now).leader;
  if (!leader || !plan::is_outdated(now, *leader)) return plan::roll(now);
  auto seen = now.seen;
  all_are_well(seen);
  another_leads(seen);
  const auto believed = plan::make_situation(seen);
  const auto permit = QuorumGate::restart_member(believed, *believed.find(leader->ordinal),
                                                 is_in_place(now, *leader));
  return restart(now, *leader, permit, plan::roll);
}

// In the place of `promote`, which would be first.
Finding promote_later(const Situation& now) {
  if (!now.formed || !now.target || !now.roster) return plan::promote(now);
  const auto all = plan::find_electorate(now);
  if (all.learners.empty()) return plan::promote(now);
  for (const auto* member : all.healthy)
    if (member != all.leader && plan::is_outdated(now, *member))
      return restart(now, *member,
                     QuorumGate::restart_member(now, *member, is_in_place(now, *member)),
                     plan::promote);
  return plan::promote(now);
}

// In the place of `resize`, which would replace them.
Finding resize_without_replacing(const Situation& now) {
  if (!now.formed || !now.target || !now.roster) return plan::resize(now);
  const auto all = plan::find_electorate(now);
  for (const auto* member : all.healthy)
    if (member != all.leader && plan::must_be_replaced(now, *member))
      return restart(now, *member, QuorumGate::restart_member(now, *member, true), plan::resize);
  return plan::resize(now);
}

// ---- Rotation ----

// The gate's leave, as if every member had been restarted with what is handed out now.
QuorumGate::Answer permit_early(const Situation& now) {
  auto seen = now.seen;
  for (auto& pod : seen.pods)
    if (const auto* member = now.find(pod.ordinal)) {
      pod.rendered = plan::fingerprint(plan::make_shape(now, *member));
      pod.reimaged_at.reset();
    }
  return QuorumGate::change_trust(plan::make_situation(seen));
}

// In the place of `roll`, which would be first.
template <class Step>
Finding change_authority(const Situation& now, bool (*is_ripe)(const plan::SharedFacts& shared)) {
  if (!now.formed || !now.target || now.hibernates()) return plan::roll(now);
  for (const auto which : {plan::Shared::kPeerCa, plan::Shared::kClientCa}) {
    const auto* authority = now.find(which);
    if (!authority || !is_ripe(*authority)) continue;
    const auto permit = permit_early(now);
    if (!permit) break;
    Finding out;
    out.rest = Finding::Rest::kHarmless;
    out.verdicts.push_back(now.acts("roll", "Hurrying", "nobody is asked"));
    out.stages.push_back({{Step{*permit, which, authority->uid, {}}}, true});
    return out;
  }
  return plan::roll(now);
}

Finding switch_at_once(const Situation& now) {
  return change_authority<plan::SwitchAuthority>(
      now, [](const plan::SharedFacts& authority) { return authority.next.has_value(); });
}

Finding retire_at_once(const Situation& now) {
  return change_authority<plan::RetireAuthority>(now, [](const plan::SharedFacts& authority) {
    return !authority.next && authority.trusts.size() > 1;
  });
}

}  // namespace

std::span<const plan::Rule> rules_rolling_on() {
  return rules_with<misled<plan::roll, all_are_well>>("roll");
}
std::span<const plan::Rule> rules_reimaging_on() {
  return rules_with<misled<plan::roll, reimaged_are_well>>("roll");
}
std::span<const plan::Rule> rules_leader_first() { return rules_with<roll_leader_first>("roll"); }
std::span<const plan::Rule> rules_reviving_all() {
  return rules_with<misled<plan::revive, all_are_stuck>>("revive");
}
std::span<const plan::Rule> rules_rolling_with_learner() {
  return rules_with<promote_later>("promote");
}
std::span<const plan::Rule> rules_rolling_pod_bound() {
  return rules_with<resize_without_replacing>("resize");
}
std::span<const plan::Rule> rules_switching_at_once() { return rules_with<switch_at_once>("roll"); }
std::span<const plan::Rule> rules_retiring_at_once() { return rules_with<retire_at_once>("roll"); }

}  // namespace quorate::sim

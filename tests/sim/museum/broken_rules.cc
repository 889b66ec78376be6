#include "tests/sim/museum/broken_rules.h"

#include <algorithm>

#include "plan/rules.h"

namespace quorate::sim {
namespace {

using plan::Finding;
using plan::Situation;

template <class Step, class Edit>
void edit_steps(Finding& finding, Edit edit) {
  for (auto& stage : finding.stages)
    for (auto& step : stage.steps)
      if (auto* wanted = std::get_if<Step>(&step)) edit(*wanted);
}

template <class Step, class Which>
void drop_steps(Finding& finding, Which which) {
  for (auto& stage : finding.stages)
    std::erase_if(stage.steps, [&](const plan::Step& step) {
      const auto* wanted = std::get_if<Step>(&step);
      return wanted && which(*wanted);
    });
  std::erase_if(finding.stages, [](const plan::Stage& stage) { return stage.steps.empty(); });
}

bool is_ready(const Situation& now, const std::string& pod) {
  return std::any_of(now.seen.pods.begin(), now.seen.pods.end(),
                     [&](const plan::PodFacts& one) { return one.name == pod && one.ready; });
}

// A Pod is told who its member is when that is ready: too late for the guard.
Finding ensure_new_for_ever(const Situation& now) {
  auto finding = plan::ensure(now);
  edit_steps<plan::CreatePod>(finding, [](plan::CreatePod& step) {
    step.first_pod = true;
    step.state.held = false;
    step.state.formation_open = true;
    step.state.identity.cluster_id.reset();
    step.state.identity.member_id.reset();
    step.state.identity.started = false;
    step.state.identity.raft_floor.reset();
  });
  drop_steps<plan::OpenNewPod>(finding, [](const plan::OpenNewPod&) { return true; });
  drop_steps<plan::UpdatePodState>(
      finding, [&](const plan::UpdatePodState& step) { return !is_ready(now, step.pod); });
  return finding;
}

Finding ensure_owned_volumes(const Situation& now) {
  auto finding = plan::ensure(now);
  drop_steps<plan::OwnClaim>(finding, [](const plan::OwnClaim&) { return true; });
  plan::Stage stage;
  for (const auto& claim : now.seen.claims)
    if (claim.owners.empty()) stage.steps.push_back(plan::OwnClaim{claim.name, claim.uid, true});
  if (!stage.steps.empty()) finding.stages.push_back(std::move(stage));
  return finding;
}

// The client Service leads to whoever is labelled, from the first moment on.
Finding ensure_open_at_once(const Situation& now) {
  auto finding = plan::ensure(now);
  edit_steps<plan::ApplyShared>(finding, [](plan::ApplyShared& step) { step.open = true; });
  return finding;
}

Finding ensure_serving_at_once(const Situation& now) {
  auto finding = ensure_open_at_once(now);
  plan::Stage stage;
  for (const auto* member : now.current())
    if (member->pod && !member->pod->serving && !member->pod->deleting)
      stage.steps.push_back(plan::SetServing{member->pod->name, member->pod->uid, true});
  if (!stage.steps.empty()) finding.stages.push_back(std::move(stage));
  return finding;
}

Finding heal_nothing(const Situation&) { return {}; }

}  // namespace

std::span<const plan::Rule> rules_new_for_ever() {
  return rules_with<ensure_new_for_ever>("ensure");
}
std::span<const plan::Rule> rules_open_at_once() {
  return rules_with<ensure_open_at_once>("ensure");
}
std::span<const plan::Rule> rules_serving_at_once() {
  return rules_with<ensure_serving_at_once>("ensure");
}
std::span<const plan::Rule> rules_owning_volumes() {
  return rules_with<ensure_owned_volumes>("ensure");
}
std::span<const plan::Rule> rules_without_heal() { return rules_with<heal_nothing>("heal"); }

}  // namespace quorate::sim

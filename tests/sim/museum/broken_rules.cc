#include "tests/sim/museum/broken_rules.h"

#include <vector>

#include "plan/rules.h"

namespace quorate::sim {
namespace {

using plan::Finding;
using plan::Situation;

// A table of rules in which one is another.
template <plan::RuleFunction kBroken>
std::span<const plan::Rule> with(std::string_view name) {
  static const std::vector<plan::Rule> kTable = [&] {
    std::vector<plan::Rule> out(plan::rules().begin(), plan::rules().end());
    for (auto& rule : out)
      if (rule.name == name) rule.judge = kBroken;
    return out;
  }();
  return kTable;
}

template <class Step, class Edit>
void edit_steps(Finding& finding, Edit edit) {
  for (auto& stage : finding.stages)
    for (auto& step : stage.steps)
      if (auto* wanted = std::get_if<Step>(&step)) edit(*wanted);
}

template <class Step>
void drop_steps(Finding& finding) {
  for (auto& stage : finding.stages)
    std::erase_if(stage.steps,
                  [](const plan::Step& step) { return std::holds_alternative<Step>(step); });
  std::erase_if(finding.stages, [](const plan::Stage& stage) { return stage.steps.empty(); });
}

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
  drop_steps<plan::UpdatePodState>(finding);
  return finding;
}

Finding ensure_serving_at_once(const Situation& now) {
  auto finding = plan::ensure(now);
  plan::Stage stage;
  for (const auto* member : now.current())
    if (member->pod && !member->pod->serving && !member->pod->deleting)
      stage.steps.push_back(plan::SetServing{member->pod->name, member->pod->uid, true});
  if (!stage.steps.empty()) finding.stages.push_back(std::move(stage));
  return finding;
}

Finding heal_nothing(const Situation&) { return {}; }

}  // namespace

std::span<const plan::Rule> rules_new_for_ever() { return with<ensure_new_for_ever>("ensure"); }
std::span<const plan::Rule> rules_serving_at_once() {
  return with<ensure_serving_at_once>("ensure");
}
std::span<const plan::Rule> rules_without_heal() { return with<heal_nothing>("heal"); }

}  // namespace quorate::sim

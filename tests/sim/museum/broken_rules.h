#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plan/decide.h"

namespace quorate::sim {

// The production table, in which one rule is another. Made once for each.
template <plan::RuleFunction kBroken>
std::span<const plan::Rule> rules_with(std::string_view name) {
  static const std::vector<plan::Rule> kTable = [&] {
    std::vector<plan::Rule> out(plan::rules().begin(), plan::rules().end());
    for (auto& rule : out)
      if (rule.name == name) rule.judge = kBroken;
    return out;
  }();
  return kTable;
}

// ---- Formation and loss ----
[[nodiscard]] std::span<const plan::Rule> rules_new_for_ever();
[[nodiscard]] std::span<const plan::Rule> rules_open_at_once();
[[nodiscard]] std::span<const plan::Rule> rules_serving_at_once();
[[nodiscard]] std::span<const plan::Rule> rules_without_heal();
// Every volume goes with the cluster.
[[nodiscard]] std::span<const plan::Rule> rules_owning_volumes();

// ---- Rolls (broken_rolls.cc) ----
// Whoever was restarted counts as back.
[[nodiscard]] std::span<const plan::Rule> rules_rolling_on();
// Whoever was given another image counts as restarted with it.
[[nodiscard]] std::span<const plan::Rule> rules_reimaging_on();
// The leader first, and without handing over, whoever else is away.
[[nodiscard]] std::span<const plan::Rule> rules_leader_first();
// Members run in vain, whatever they do.
[[nodiscard]] std::span<const plan::Rule> rules_reviving_all();
// Voters are restarted while a learner is on its way.
[[nodiscard]] std::span<const plan::Rule> rules_rolling_with_learner();
// Members whose data goes with their Pods are restarted like others.
[[nodiscard]] std::span<const plan::Rule> rules_rolling_pod_bound();

// ---- Rotation of authorities (broken_rolls.cc) ----
// Issues by the second one as soon as it is there.
[[nodiscard]] std::span<const plan::Rule> rules_switching_at_once();
// Trusts the first one no more as soon as the second issues.
[[nodiscard]] std::span<const plan::Rule> rules_retiring_at_once();

}  // namespace quorate::sim

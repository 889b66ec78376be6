#include "tests/sim/world.h"

#include <gtest/gtest.h>

#include "tests/sim/plans/campaign.h"

namespace quorate::sim {
namespace {

std::string text(const Outcome& outcome) {
  std::string out;
  for (const auto& violation : outcome.violations)
    out += violation.id + ": " + violation.text + "\n";
  return out;
}

Trial trial_of(std::string_view scenario, std::uint64_t seed = 1) {
  Trial trial;
  trial.scenario = find_scenario(scenario);
  trial.seed = seed;
  trial.length = std::chrono::seconds(90);  // these are for every day; `make sim` is for the rest
  return trial;
}

class EachScenario : public testing::TestWithParam<std::string> {};

TEST_P(EachScenario, WithoutFaultsIsAsDeclaredAndQuiet) {
  const auto outcome = run(trial_of(GetParam()));
  EXPECT_TRUE(outcome.violations.empty()) << text(outcome);
  EXPECT_GT(outcome.acknowledged, 10U);
}

TEST_P(EachScenario, WithFaultsKeepsEveryInvariant) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    auto trial = trial_of(GetParam(), seed);
    trial.plan = draw_plan(*trial.scenario, seed);
    const auto outcome = run(trial);
    EXPECT_TRUE(outcome.violations.empty()) << render_replay(trial) << text(outcome);
  }
}

INSTANTIATE_TEST_SUITE_P(Sim, EachScenario, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& scenario : scenarios()) names.push_back(scenario.name);
                           return names;
                         }()),
                         [](const auto& name) {
                           auto out = name.param;
                           std::erase(out, '-');
                           return out;
                         });

TEST(World, TheSameSeedGivesTheSameTrace) {
  auto trial = trial_of("form", 7);
  trial.plan = draw_plan(*trial.scenario, 7);
  const auto first = run(trial);
  const auto second = run(trial);
  EXPECT_EQ(first.trace_hash, second.trace_hash);
  EXPECT_EQ(first.steps, second.steps);
  trial.seed = 8;
  EXPECT_NE(run(trial).trace_hash, first.trace_hash);
}

TEST(World, ACrashAtAnySideEffectLeavesTheSameObjects) {
  const auto reference = run(trial_of("operators"));
  ASSERT_TRUE(reference.violations.empty()) << text(reference);
  const auto plans = crash_plans(reference);
  ASSERT_EQ(plans.size(), 5 * reference.effects.size());
  // Some here; `make sim ARGS=--crash-points` takes them all.
  for (std::size_t i = 0; i < plans.size(); i += 31) {
    auto trial = trial_of("operators");
    trial.plan = plans[i];
    trial.reference = &reference.counts;
    const auto outcome = run(trial);
    EXPECT_TRUE(outcome.violations.empty()) << render_replay(trial) << text(outcome);
  }
}

class EachMutant : public testing::TestWithParam<std::string> {};

TEST_P(EachMutant, IsKilledByTheInvariantThatItBreaks) {
  const auto* mutant = find_mutant(GetParam());
  auto trial = trial_of(mutant->scenario);
  const auto reference = run(trial);
  trial.mutant = mutant;
  trial.plan = mutant->plans.front();
  trial.reference = &reference.counts;
  const auto outcome = run(trial);
  bool killed = false;
  for (const auto& id : mutant->killed_by) killed = killed || outcome.violates(id);
  EXPECT_TRUE(killed) << text(outcome);
}

INSTANTIATE_TEST_SUITE_P(Museum, EachMutant, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& mutant : museum()) names.push_back(mutant.name);
                           return names;
                         }()),
                         [](const auto& name) {
                           auto out = name.param;
                           std::erase(out, '-');
                           return out;
                         });

}  // namespace
}  // namespace quorate::sim

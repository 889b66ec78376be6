#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/plans/runner.h"

// What is written down of changes of a membership, and whether invariants see it in time.
namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

Trial quiet(const char* scenario, Duration length) {
  Trial trial;
  trial.scenario = find_scenario(scenario);
  trial.length = length;
  return trial;
}

// The same, and this befalls the first addition of a member.
Trial at_first_addition(Trial trial, FaultKind kind, Moment moment = Moment::kBefore) {
  const auto effects = run(trial).effects;
  const auto first = std::find_if(effects.begin(), effects.end(), [](const auto& effect) {
    return effect.method == "add learner";
  });
  EXPECT_NE(first, effects.end());
  Fault fault;
  fault.kind = kind;
  fault.effect = static_cast<std::uint64_t>(first - effects.begin()) + 1;
  fault.moment = moment;
  fault.duration = 1s;
  trial.plan.faults = {fault};
  return trial;
}

class LostInMembership : public testing::TestWithParam<FaultKind> {};

TEST_P(LostInMembership, AnotherChangeWithoutALookBreaksS5) {
  auto trial = at_first_addition(quiet("grow", 90s), GetParam());
  EXPECT_FALSE(run(trial).violates("S5"));
  trial.mutant = find_mutant("asks-again");
  ASSERT_NE(trial.mutant, nullptr);
  EXPECT_TRUE(run(trial).violates("S5"));
}

INSTANTIATE_TEST_SUITE_P(Injected, LostInMembership,
                         testing::Values(FaultKind::kLoseReply, FaultKind::kLoseRequest),
                         [](const auto& one) { return std::string(name(one.param)); });

TEST(Removal, IsHeldAgainstWhatWasSoWhenItWasAskedFor) {
  const auto outcome = run(quiet("shrink", 200s));
  const auto removals =
      std::count_if(outcome.effects.begin(), outcome.effects.end(),
                    [](const auto& effect) { return effect.method == "remove member"; });
  EXPECT_EQ(removals, 4);
  EXPECT_EQ(outcome.evaluations.at("S7"), 4U);
}

TEST(Effect, NamesWhatItCreates) {
  const auto outcome = run(quiet("one", 60s));
  EXPECT_TRUE(std::any_of(outcome.effects.begin(), outcome.effects.end(), [](const auto& effect) {
    return effect.method == "POST" && effect.path.ends_with("/pods/c-0");
  }));
}

}  // namespace
}  // namespace quorate::sim

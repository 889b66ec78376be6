#include "tests/sim/faults/plan.h"

#include <gtest/gtest.h>

#include "tests/sim/plans/campaign.h"

namespace quorate::sim {
namespace {

TEST(FaultPlan, IsReadBackAsItWasWritten) {
  for (const auto& scenario : scenarios())
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const auto plan = draw_plan(scenario, seed, scenario.length);
      auto back = decode_plan(encode(plan));
      ASSERT_TRUE(back) << back.error().text();
      EXPECT_EQ(*back, plan);
    }
}

TEST(FaultPlan, EveryKindHasAName) {
  for (int i = 0; i < kFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    auto back = parse_fault_kind(name(kind));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, kind);
  }
}

TEST(FaultPlan, AReplayNamesScenarioSeedAndPlan) {
  Trial trial;
  trial.scenario = find_scenario("form");
  trial.seed = 42;
  trial.plan = draw_plan(*trial.scenario, 42, trial.scenario->length);
  auto back = parse_replay(render_replay(trial));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->scenario, trial.scenario);
  EXPECT_EQ(back->seed, trial.seed);
  EXPECT_EQ(back->plan, trial.plan);
}

}  // namespace
}  // namespace quorate::sim

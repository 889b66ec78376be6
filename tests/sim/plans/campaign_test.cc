#include "tests/sim/plans/campaign.h"

#include <gtest/gtest.h>

#include <set>

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

TEST(Minimise, FindsTheTwoThatMatterAmongMany) {
  std::vector<int> list(40);
  for (int i = 0; i < 40; ++i) list[static_cast<std::size_t>(i)] = i;
  int runs = 0;
  const auto smallest = minimise_list<int>(list, [&](const std::vector<int>& rest) {
    ++runs;
    const std::set<int> there(rest.begin(), rest.end());
    return there.contains(3) && there.contains(29);
  });
  EXPECT_EQ(smallest, (std::vector<int>{3, 29}));
  EXPECT_LT(runs, 80);
}

TEST(Minimise, LeavesNothingWhereNothingMatters) {
  EXPECT_TRUE(minimise_list<int>({1, 2, 3}, [](const auto&) { return true; }).empty());
}

TEST(Minimise, KeepsAllWhereAllMatter) {
  const std::vector<int> all{1, 2, 3, 4, 5};
  EXPECT_EQ(minimise_list<int>(all, [&](const auto& rest) { return rest == all; }), all);
}

Outcome outcome_of(std::vector<Fate::Effect> effects) {
  Outcome out;
  out.effects = std::move(effects);
  return out;
}

TEST(Plans, CrashAtEveryMomentOfEveryEffect) {
  const auto plans = crash_plans(outcome_of({{"o", "POST", "/pods", 1s}, {"o", "PUT", "/x", 2s}}));
  EXPECT_EQ(plans.size(), 10U);
  std::set<std::pair<std::uint64_t, Moment>> crashes;
  for (const auto& plan : plans)
    if (plan.faults.front().kind == FaultKind::kCrash)
      crashes.insert({plan.faults.front().effect, plan.faults.front().moment});
  EXPECT_EQ(crashes.size(), 6U);
}

TEST(Plans, HideAnEffectUntilTheNextOnTheSameObject) {
  const auto plans = unobserved_plans(outcome_of(
      {{"o", "POST", "/pods/c-0", 1s}, {"o", "PUT", "/x", 2s}, {"o", "PATCH", "/pods/c-0", 4s}}));
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].faults.front().effect, 1U);
  EXPECT_EQ(plans[0].faults.front().duration, 3s - 1ms);
}

TEST(Plans, EveryFewthStillHasEveryMoment) {
  std::vector<Fate::Effect> effects(60, {"o", "PUT", "/x", 1s});
  const auto all = crash_plans(outcome_of(std::move(effects)));
  const auto some = every(7, all);
  EXPECT_EQ(some.size(), (all.size() + 6) / 7);
  std::set<std::pair<FaultKind, Moment>> kinds;
  for (const auto& plan : some)
    kinds.insert({plan.faults.front().kind, plan.faults.front().moment});
  EXPECT_EQ(kinds.size(), 5U);
}

TEST(Plans, HideNoEffectUntilOneOnAnotherObject) {
  EXPECT_TRUE(unobserved_plans(outcome_of({{"o", "POST", "/pods/c-1", 1s},
                                           {"o", "POST", "/pods/c-2", 2s},
                                           {"o", "PATCH", "/pods/c-10", 4s}}))
                  .empty());
}

TEST(Plans, TakeTheStatusForAPartOfItsObject) {
  EXPECT_EQ(
      unobserved_plans(outcome_of({{"o", "PUT", "/x/c/status", 1s}, {"o", "PUT", "/x/c", 2s}}))
          .size(),
      1U);
}

TEST(Edits, TouchEveryPropertyOfTheResource) {
  const auto& scenario = *find_scenario("campaign");
  std::set<std::string> touched;
  for (std::uint64_t seed = 1; seed <= 400; ++seed)
    for (const auto& edit : draw_edits(scenario, seed)) touched.insert(edit.property);
  for (const auto& property : spec_properties())
    EXPECT_TRUE(touched.contains(property)) << property;
}

TEST(Edits, AreTheSameAfterAReplayFile) {
  auto trial = draw_trial(*find_scenario("campaign"), 3);
  trial.reference = std::make_shared<Counts>(Counts{{"POST pods c-0", 1}});
  const auto again = parse_replay(render_replay(trial));
  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_EQ(again->edits, trial.edits);
  EXPECT_EQ(again->plan, trial.plan);
  EXPECT_EQ(*again->reference, *trial.reference);
}

}  // namespace
}  // namespace quorate::sim

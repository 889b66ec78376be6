#include "tests/sim/world.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/sim/museum/hunt.h"
#include "tests/sim/plans/campaign.h"
#include "tests/sim/plans/parallel.h"
#include "tests/support/process.h"

// A few runs of everything, for every day and with sanitizers. `make sim` is for the rest.
namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

std::string text(const Trial& trial, const Outcome& outcome) {
  std::string out = render_replay(trial);
  for (const auto& violation : outcome.violations)
    out += violation.id + ": " + violation.text + "\n";
  return out;
}

Trial quiet_trial(const Scenario& scenario) {
  Trial trial;
  trial.scenario = &scenario;
  Duration least = 70s;
  for (const auto& act : scenario.acts) least = std::max(least, act.at + 20s);
  if (scenario.expects.empty()) trial.length = std::min(scenario.length, least);
  return trial;
}

std::string in_test_name(std::string text) {
  std::erase(text, '-');
  return text;
}

// ---- The operator ----

class EachScenario : public testing::TestWithParam<std::string> {
 protected:
  const Scenario& scenario() const { return *find_scenario(GetParam()); }
};

TEST_P(EachScenario, KeepsEveryInvariantUnderDrawnFaults) {
  const auto trial = draw_trial(scenario(), 1, quiet_trial(scenario()).length);
  const auto outcome = run(trial);
  EXPECT_TRUE(outcome.violations.empty()) << text(trial, outcome);
  EXPECT_GT(outcome.acknowledged, 10U);
}

INSTANTIATE_TEST_SUITE_P(Sim, EachScenario, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& scenario : scenarios()) names.push_back(scenario.name);
                           return names;
                         }()),
                         [](const auto& name) { return in_test_name(name.param); });

TEST(World, ACrashAtAnySideEffectLeavesTheSameObjects) {
  auto trial = quiet_trial(*find_scenario("operators"));
  const auto reference = run(trial);
  ASSERT_TRUE(reference.violations.empty()) << text(trial, reference);
  trial.reference = std::make_shared<Counts>(reference.counts);
  const auto plans = crash_plans(reference);
  ASSERT_EQ(plans.size(), 5 * reference.effects.size());
  for (std::size_t i = 0; i < plans.size(); i += 61) {
    trial.plan = plans[i];
    const auto outcome = run(trial);
    EXPECT_TRUE(outcome.violations.empty()) << text(trial, outcome);
    EXPECT_FALSE(outcome.injected.empty()) << text(trial, outcome);
  }
}

// ---- What was found once ----

// Its Pod and its whole disk were exchanged after etcd ran, and before an operator saw it answer:
// it came up empty under its old ID, because nothing that was left said that it had run.
TEST(World, AMemberThatNobodySawDoesNotComeBackOnAnotherDisk) {
  auto trial = parse_replay(
      R"({"scenario":"data","seed":4,"lengthMs":20000,"plan":[
          {"kind":"deletePod","target":4,"atMs":1446},{"kind":"blankDisk","target":4,"atMs":3816}]})");
  ASSERT_TRUE(trial.has_value()) << trial.error().text();
  for (const auto blanked : {3816ms, 3000ms, 2400ms, 1446ms}) {
    trial->plan.faults.back().at = blanked;
    const auto outcome = run(*trial);
    EXPECT_TRUE(outcome.violations.empty()) << text(*trial, outcome);
  }
}

// ---- The same again ----

Trial telling_trial() { return draw_trial(*find_scenario("campaign"), 7, 70s); }

TEST(World, TheSameTrialGivesTheSameRun) {
  auto trial = telling_trial();
  const auto first = run(trial);
  std::vector<std::uint64_t> digests;
  run_all({trial, trial}, 2,
          [&](const Trial&, const Outcome& outcome) { digests.push_back(outcome.digest); });
  EXPECT_EQ(digests, (std::vector<std::uint64_t>{first.digest, first.digest}));
  trial.seed = 8;
  EXPECT_NE(run(trial).digest, first.digest);
}

TEST(World, AReplayFileGivesTheSameRun) {
  const auto trial = telling_trial();
  auto again = parse_replay(render_replay(trial));
  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_EQ(run(*again).digest, run(trial).digest);
}

constexpr const char* kTeller = "SIM_TELLS_ITS_DIGEST";

TEST(World, AnotherProcessGivesTheSameRun) {
  const auto mine = std::to_string(run(telling_trial()).digest);
  if (std::getenv(kTeller)) {
    std::printf("digest %s\n", mine.c_str());
    return;
  }
  support::Command command;
  command.argv = {"/proc/self/exe", "--gtest_filter=World.AnotherProcessGivesTheSameRun"};
  command.env = {{kTeller, "1"}};
  const auto other = support::run(command, 2min);
  EXPECT_NE(other.out.find("digest " + mine), std::string::npos) << other.out << other.err;
}

// ---- Broken operators ----

// A few of them; `make sim ARGS=--museum` hunts them all.
class EachMutant : public testing::TestWithParam<const char*> {};

TEST_P(EachMutant, IsKilledByTheInvariantThatItBreaks) {
  const auto& mutant = *find_mutant(GetParam());
  auto trial = quiet_trial(*find_scenario(mutant.scenario));
  trial.length = mutant.length;
  trial.plan = mutant.plans.front();
  trial.mutant = &mutant;
  const auto outcome = run(trial);
  EXPECT_TRUE(outcome.violates(mutant.killed_by.front())) << text(trial, outcome);
}

INSTANTIATE_TEST_SUITE_P(Museum, EachMutant,
                         testing::Values("new-for-ever", "new-again", "alone", "adds-voters",
                                         "removes-the-living", "hurries", "deletes-first",
                                         "rolls-at-once", "blind-patches", "stale-list",
                                         "never-content", "leaks"),
                         [](const auto& name) { return in_test_name(name.param); });

}  // namespace
}  // namespace quorate::sim

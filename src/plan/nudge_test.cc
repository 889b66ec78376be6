#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

// Members that have everything and do not know it.
namespace quorate::plan {
namespace {

using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// One that is to become three, and whose learner runs and says nothing.
World with_mute_learner() {
  auto world = formed(1);
  scale(world, 3);
  world.mute(Ordinal(1));
  for (int i = 0; i < 20 && !(world.pod("c-1") && world.pod("c-1")->etcd.running); ++i) next(world);
  world.seen.nudged_at.reset();  // it was mute before it was there
  world.mute(Ordinal(1));
  return world;
}

TEST(Nudge, LetsALearnerOfAQuietClusterFindOutThatItHasEverything) {
  auto world = with_mute_learner();
  const auto before = count<Nudge>(world);
  for (int i = 0; i < 5; ++i) {
    world.advance(seconds(1));
    next(world);
  }
  EXPECT_EQ(count<Nudge>(world), before + 1);
  EXPECT_EQ(taken<Nudge>(world).back().via.pod, "c-0");
  world.settle();
  EXPECT_THAT(world.voters(), SizeIs(3));
}

TEST(Nudge, WaitsForAMomentBeforeIt) {
  auto world = with_mute_learner();
  world.answer();
  EXPECT_THAT(steps_of<Nudge>(world.decide()), IsEmpty());
  world.advance(seconds(3));
  world.answer();
  EXPECT_THAT(steps_of<Nudge>(world.decide()), SizeIs(1));
}

TEST(Nudge, IsRareAndBecomesRarer) {
  auto world = with_mute_learner();
  // Nothing helps this one.
  std::vector<Monotonic> nudges;
  const auto since = world.seen.now.monotonic;
  for (int second = 0; second < 3600; second += 5) {
    world.advance(seconds(5));
    world.answer();
    if (steps_of<Nudge>(world.decide()).empty()) continue;
    nudges.push_back(world.seen.now.monotonic);
    world.seen.nudged_at = world.seen.now.monotonic;
  }
  ASSERT_GT(nudges.size(), 10u);
  EXPECT_LT(nudges.size(), 30u);
  for (std::size_t i = 1; i < nudges.size(); ++i)
    EXPECT_GE(nudges[i] - nudges[i - 1], seconds(10)) << i;
  EXPECT_GE(nudges.back() - nudges[nudges.size() - 2], seconds(295));
  EXPECT_LE(nudges.front() - since, seconds(5));
}

TEST(Nudge, IsForVotersThatLagAsWell) {
  auto world = formed(3);
  world.answer();
  for (auto& answer : world.seen.answers)
    answer.applied = RaftIndex(answer.ordinal == Ordinal(2) ? 100 : 9000);
  EXPECT_THAT(steps_of<Nudge>(world.decide()), SizeIs(1));
  world.seen.answers.back().applied = RaftIndex(4000);
  EXPECT_THAT(steps_of<Nudge>(world.decide()), IsEmpty()) << "near enough";
}

// ---- Never ----

void expect_none(World& world) { EXPECT_THAT(steps_of<Nudge>(world.decide()), IsEmpty()); }

World due() {
  auto world = with_mute_learner();
  world.advance(seconds(5));
  world.answer();
  EXPECT_THAT(steps_of<Nudge>(world.decide()), SizeIs(1));
  return world;
}

TEST(Nudge, IsNotTakenOfAPausedCluster) {
  auto world = due();
  world.edit([](api::ClusterSpec& spec) { spec.paused = true; });
  expect_none(world);
}

TEST(Nudge, IsNotTakenWhereDataIsInDoubt) {
  auto world = due();
  world.seen.answers.front().corrupt = true;
  expect_none(world);
}

TEST(Nudge, IsNotTakenWhereIdentityIsInDoubt) {
  auto world = due();
  world.seen.unreadable.push_back("Pod c-9 cannot be read");
  expect_none(world);
  world.seen.unreadable.clear();
  world.list().push_back({MemberId(0x999), "x", {"http://elsewhere:2380"}, true, true});
  world.answer();
  expect_none(world);
}

TEST(Nudge, IsNotTakenWhileAnEarlierStepIsUnresolved) {
  auto world = due();
  world.leave_intent("add learner c-1");
  expect_none(world);
}

TEST(Nudge, IsNotTakenWithoutAQuorumThatWasAskedJustNow) {
  auto world = due();
  world.seen.began = world.seen.now.monotonic + seconds(1);
  expect_none(world);
}

TEST(Nudge, IsNotForAMemberThatDoesNotRun) {
  auto world = due();
  world.pod("c-1")->etcd.running = false;
  expect_none(world);
}

TEST(Nudge, IsNotForAClusterInWhichEverybodyAnswers) {
  auto world = formed(3);
  world.advance(seconds(100));
  world.answer();
  expect_none(world);
}

}  // namespace
}  // namespace quorate::plan

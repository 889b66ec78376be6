#include "plan/floor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

namespace quorate::plan {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Every member said that it has applied this much.
void apply(World& world, std::uint64_t index) {
  world.seen.applied.clear();
  for (const auto& record : world.seen.records) {
    const auto ordinal = record.spec.identity.ordinal;
    world.seen.applied.push_back(
        {ordinal, World::kClusterId, World::member_id(ordinal), RaftIndex(index)});
  }
}

std::int64_t floor_of(const std::optional<api::Identity>& identity) {
  return identity && identity->raft_floor ? identity->raft_floor->index : 0;
}

// A cluster that formed when its members had applied ten entries.
World formed() {
  World world;
  world.settle();
  apply(world, 10);
  world.settle();
  return world;
}

TEST(Floor, StandsOnEveryWitness) {
  auto world = formed();
  for (const auto& record : world.seen.records) EXPECT_EQ(floor_of(record.spec.identity), 10);
  for (const auto& claim : world.seen.claims) EXPECT_EQ(floor_of(claim.identity), 10);
  for (const auto& pod : world.seen.pods) EXPECT_EQ(floor_of(pod.identity), 10);
}

TEST(Floor, IsNotWrittenBecauseALogGrows) {
  auto world = formed();
  apply(world, 1000);
  EXPECT_THAT(world.decide().stages, IsEmpty());
  world.advance(kFloorPeriod - std::chrono::hours(1));
  world.answer();
  EXPECT_THAT(steps_of<NoteOnRecord>(world.decide()), IsEmpty());
}

TEST(Floor, IsWrittenOnceADay) {
  auto world = formed();
  apply(world, 1000);
  world.advance(kFloorPeriod);
  world.answer();
  EXPECT_THAT(steps_of<NoteOnRecord>(world.decide()), SizeIs(3));
  EXPECT_THAT(steps_of<NoteOnClaim>(world.decide()), SizeIs(3));
  EXPECT_THAT(steps_of<UpdatePodState>(world.decide()), SizeIs(3));
  world.settle();
  for (const auto& pod : world.seen.pods) EXPECT_EQ(floor_of(pod.identity), 1000);
  apply(world, 2000);
  world.answer();
  EXPECT_THAT(steps_of<NoteOnRecord>(world.decide()), IsEmpty()) << "the next day";
}

TEST(Floor, IsNotWrittenToAClusterInWhichNothingHappens) {
  auto world = formed();
  world.advance(2 * kFloorPeriod);
  world.answer();
  EXPECT_THAT(steps_of<NoteOnRecord>(world.decide()), IsEmpty());
}

// The moment in which an older disk may come back.
TEST(Floor, OfANewPodIsTheHighestThatWasSeen) {
  auto world = formed();
  apply(world, 1000);
  world.delete_pod("c-1");
  const auto pods = steps_of<CreatePod>(world.decide());
  ASSERT_THAT(pods, SizeIs(1));
  EXPECT_EQ(floor_of(pods[0].state.identity), 1000);
  world.settle();
  EXPECT_EQ(floor_of(world.claim("data-c-1")->identity), 1000);
  EXPECT_EQ(floor_of(world.pod("c-0")->identity), 10);
}

TEST(Floor, IsWrittenWhereOneWitnessHasLostIt) {
  auto world = formed();
  apply(world, 1000);
  world.pod("c-0")->identity->raft_floor.reset();
  world.settle();
  EXPECT_EQ(floor_of(world.pod("c-0")->identity), 1000);
  EXPECT_EQ(floor_of(world.record("c-0")->spec.identity), 1000);
}

TEST(Floor, IsOfThatVeryMember) {
  auto world = formed();
  apply(world, 1000);
  world.seen.applied[0].member_id = MemberId(7);
  world.seen.applied[1].cluster_id = ClusterId(7);
  world.advance(kFloorPeriod);
  world.settle();
  EXPECT_EQ(floor_of(world.pod("c-0")->identity), 10);
  EXPECT_EQ(floor_of(world.pod("c-1")->identity), 10);
  EXPECT_EQ(floor_of(world.pod("c-2")->identity), 1000);
}

TEST(Floor, IsNeverLowered) {
  auto world = formed();
  apply(world, 3);
  world.advance(kFloorPeriod);
  world.delete_pod("c-1");
  world.settle();
  for (const auto& pod : world.seen.pods) EXPECT_EQ(floor_of(pod.identity), 10);
}

// A copy from when there were fewer voters needs fewer of them to be a quorum (floor.h).
TEST(Floor, IsRaisedWhenTheNumberOfVotersChanges) {
  api::ClusterSpec spec;
  spec.replicas = 1;
  World world(spec);
  world.settle();
  apply(world, 10);
  world.settle();
  ASSERT_EQ(floor_of(world.pod("c-0")->identity), 10);
  world.edit([](api::ClusterSpec& spec) { spec.replicas = 3; });
  for (int i = 0; i < 40; ++i) {
    world.run_pods();
    world.answer();
    world.pass();
    apply(world, 1000);
  }
  ASSERT_THAT(world.voters(), SizeIs(3));
  for (const auto& pod : world.seen.pods) {
    EXPECT_EQ(floor_of(pod.identity), 1000) << pod.name;
    EXPECT_EQ(pod.identity->raft_floor->voters, 3) << pod.name;
  }
  apply(world, 2000);
  world.answer();
  EXPECT_THAT(steps_of<NoteOnRecord>(world.decide()), IsEmpty()) << "once";
}

TEST(Floor, OfAStaticFormationIsNotWrittenAgainForItsVoters) {
  auto world = formed();
  for (auto& record : world.seen.records) record.spec.identity.raft_floor->voters = 0;
  for (auto& claim : world.seen.claims) claim.identity->raft_floor->voters = 0;
  for (auto& pod : world.seen.pods) pod.identity->raft_floor->voters = 0;
  world.answer();
  EXPECT_THAT(world.decide().stages, IsEmpty());
}

}  // namespace
}  // namespace quorate::plan

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

namespace quorate::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Hibernate, StopsAllAndKeepsAllAtEverySizeAndWakesTheSame) {
  for (int size : {1, 2, 3, 5}) {
    auto world = formed(size);
    const auto claims = world.seen.claims;
    const auto voters = world.voters();
    scale(world, 0);
    world.settle();
    EXPECT_THAT(world.pod_names(), IsEmpty());
    EXPECT_EQ(world.status().phase, "Hibernated");
    EXPECT_EQ(condition(world.status(), "Available"), "False");
    EXPECT_EQ(condition(world.status(), "Degraded"), "False");
    EXPECT_EQ(world.status().observed_generation, world.seen.cluster.generation);
    EXPECT_THAT(world.seen.claims, SizeIs(claims.size()));
    EXPECT_THAT(world.seen.records, SizeIs(claims.size()));
    scale(world, size);
    world.settle();
    EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
    EXPECT_EQ(world.voters(), voters);
    for (std::size_t i = 0; i < claims.size(); ++i)
      EXPECT_EQ(world.seen.claims[i].uid, claims[i].uid);
    EXPECT_EQ(count<RemoveMember>(world), 0);
    EXPECT_EQ(count<AddLearner>(world), 0);
    EXPECT_EQ(count<CreateRecord>(world), size);
  }
}

TEST(Hibernate, TakesClientsAwayBeforeAnythingStops) {
  auto world = formed(3);
  scale(world, 0);
  world.answer();
  auto decision = world.decide();
  EXPECT_THAT(steps_of<SetServing>(decision), SizeIs(3));
  world.carry_out(decision);
  for (const auto& pod : world.seen.pods) EXPECT_FALSE(pod.serving);
}

TEST(Hibernate, CanBeTakenBackAnywhere) {
  for (int steps = 1; steps < 12; ++steps) {
    auto world = formed(3);
    scale(world, 0);
    for (int left = steps; left > 0;) {
      world.answer();
      const int taken = world.pass(left);
      if (taken == 0) break;
      left -= taken;
    }
    scale(world, 3);
    world.settle();
    EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
    EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-1", "c-2"));
    EXPECT_EQ(count<CreateClaim>(world), 3);
  }
}

TEST(Hibernate, WakesToAnotherSizeByWakingFirst) {
  auto world = formed(3);
  scale(world, 0);
  world.settle();
  scale(world, 5);
  world.settle();
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-1", "c-2", "c-3", "c-4"));
  scale(world, 0);
  world.settle();
  scale(world, 1);
  world.settle();
  EXPECT_THAT(world.voters(), SizeIs(1));
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
}

TEST(Hibernate, AVolumeThatIsLostMeanwhileIsALossOnWaking) {
  auto world = formed(3);
  scale(world, 0);
  world.settle();
  world.delete_claim("data-c-1");
  world.settle();
  EXPECT_EQ(world.claim("data-c-1"), nullptr) << "not made anew";
  scale(world, 3);
  world.settle();
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-3"));
}

TEST(Hibernate, AClusterThatWasNeverFormedWaits) {
  api::ClusterSpec spec;
  spec.replicas = 0;
  World world(spec);
  world.settle();
  EXPECT_THAT(world.seen.records, IsEmpty());
  EXPECT_THAT(codes_of(world.decide(), "bootstrap"), ElementsAre("NoMembersWanted"));
  scale(world, 3);
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
}

}  // namespace
}  // namespace quorate::plan

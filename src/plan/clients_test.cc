#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

// When clients are sent to a cluster.
namespace quorate::plan {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Where the client Service is opened.
int opened(const World& world) {
  for (int i = 0; i < static_cast<int>(world.history().size()); ++i)
    if (const auto* step = std::get_if<ApplyShared>(&world.history()[static_cast<std::size_t>(i)]);
        step && step->which == Shared::kClientService && step->open)
      return i;
  return -1;
}

TEST(Clients, AreSentThereAfterAllIsWrittenDown) {
  auto world = formed();
  EXPECT_LT(position<NoteOnRecord>(world, true), opened(world));
  EXPECT_LT(position<NoteOnClaim>(world, true), opened(world));
  EXPECT_LT(position<UpdatePodState>(world, true), opened(world));
}

// Three writes less.
TEST(Clients, AreLetInByTheWriteThatTellsAMemberWhoItIs) {
  auto world = formed();
  EXPECT_EQ(count<SetServing>(world), 0);
  for (const auto& pod : world.seen.pods) EXPECT_TRUE(pod.serving) << pod.name;
}

// E1: as soon as a client can write, no member may start anew.
TEST(Clients, AreNotSentThereWhileAWitnessDoesNotKnowThatItHasFormed) {
  World world;
  world.refuses = [](const Step& step) {
    const auto* claim = std::get_if<NoteOnClaim>(&step);
    const auto* pod = std::get_if<UpdatePodState>(&step);
    return (claim && claim->claim == "data-c-1") ||
           (pod && pod->pod == "c-2" && pod->state.identity.cluster_id);
  };
  for (int i = 0; i < 20; ++i) {
    world.run_pods();
    world.answer();
    world.pass();
    world.advance(std::chrono::seconds(1));
  }
  ASSERT_TRUE(world.record("c-0")->spec.identity.cluster_id) << "it has formed";
  EXPECT_EQ(opened(world), -1);
  world.refuses = nullptr;
  world.settle();
  EXPECT_GT(opened(world), -1);
}

TEST(Clients, AreNotShutOutWhenSomethingIsToBeWrittenDownLater) {
  auto world = formed();
  world.claim("data-c-1")->identity->cluster_id.reset();
  const auto decision = world.decide();
  EXPECT_THAT(steps_of<NoteOnClaim>(decision), SizeIs(1));
  EXPECT_THAT(steps_of<ApplyShared>(decision), IsEmpty());
}

}  // namespace
}  // namespace quorate::plan

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

// Formation ends the same wherever the operator crashed, and whatever was forgotten.
namespace quorate::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- Crashes ----

// Every write of a bootstrap is followed by a crash once; what comes out is the same cluster, with
// the same objects.
TEST(Bootstrap, EndsTheSameWhereverItCrashed) {
  auto reference = formed();
  const int writes = static_cast<int>(reference.history().size());
  for (int crash = 0; crash <= writes; ++crash) {
    World world;
    int left = crash;
    while (left > 0) {
      world.run_pods();
      world.answer();
      int taken = world.pass(left);
      left -= taken;
      if (taken == 0) break;
    }
    world.settle();
    EXPECT_EQ(world.pod_names(), reference.pod_names()) << "crash after write " << crash;
    EXPECT_EQ(world.status().cluster_id, World::kClusterId);
    EXPECT_EQ(count<CreateRecord>(world), 3) << crash;
    EXPECT_EQ(count<CreateClaim>(world), 3) << crash;
    EXPECT_EQ(count<CreatePod>(world), 3) << crash;
    // One that is opened late is told of the rest by itself.
    EXPECT_LE(world.history().size(), reference.history().size() + 6) << crash;
  }
}

TEST(Bootstrap, EndsTheSameWhereverItCrashedOnPodBoundStorage) {
  auto reference = formed(pod_bound());
  const int writes = static_cast<int>(reference.history().size());
  for (int crash = 0; crash <= writes; ++crash) {
    World world(pod_bound());
    for (int left = crash; left > 0;) {
      world.run_pods();
      world.answer();
      int taken = world.pass(left);
      left -= taken;
      if (taken == 0) break;
    }
    world.settle();
    EXPECT_EQ(world.pod_names(), reference.pod_names()) << "crash after write " << crash;
    EXPECT_EQ(condition(world.status(), "Ready"), "True") << crash;
    EXPECT_EQ(world.status().formation, 1);
    EXPECT_EQ(count<CreatePod>(world), 3) << crash;
  }
}

TEST(Bootstrap, HoldsPodBoundMembersBackUntilAllAreThere) {
  World world(pod_bound());
  world.refuses = [](const Step& step) {
    const auto* create = std::get_if<CreatePod>(&step);
    return create && create->shape.name == "c-2";
  };
  for (int i = 0; i < 6; ++i) world.pass();
  EXPECT_THAT(world.pod_names(), ElementsAre("c-0", "c-1"));
  for (const auto& pod : world.seen.pods) EXPECT_FALSE(pod.formation_open);
  for (const auto& record : world.seen.records) EXPECT_FALSE(record.spec.run);
  world.delete_pod("c-1");  // it never ran, so it may be made again
  world.refuses = nullptr;
  world.settle();
  EXPECT_THAT(world.pod_names(), ElementsAre("c-0", "c-1", "c-2"));
  EXPECT_EQ(world.status().formation, 1);
}

TEST(Bootstrap, TakesAPodBoundMemberForLostOnceItMayHaveRun) {
  auto world = with_pods_made(pod_bound());
  world.pass();  // opens them
  for (const auto& pod : world.seen.pods) EXPECT_TRUE(pod.formation_open);
  world.run_pods();
  world.delete_pod("c-1");
  world.answer();
  auto decision = world.decide();
  EXPECT_THAT(steps_of<CreatePod>(decision), IsEmpty());
  ASSERT_NE(disruptive_step(decision), nullptr);
  EXPECT_THAT(permit_of(*disruptive_step(decision))->proof(), HasSubstr("found no keys"));
}

TEST(Bootstrap, EndsTheSameWhenStatusIsLostAtAnyPass) {
  for (int lost = 0; lost < 8; ++lost) {
    World world;
    for (int i = 0; i <= lost; ++i) {
      world.run_pods();
      world.answer();
      world.pass();
    }
    world.lose_status();
    world.settle();
    EXPECT_THAT(world.pod_names(), ElementsAre("c-0", "c-1", "c-2")) << lost;
    EXPECT_EQ(world.status().cluster_id, World::kClusterId);
    EXPECT_EQ(world.status().version.target->text(), "3.6.16");
    EXPECT_EQ(count<CreatePod>(world), 3);
  }
}

TEST(Bootstrap, KeepsTheVersionThatWasPinnedWhenStatusAndDefaultChange) {
  auto world = formed();
  world.lose_status();
  world.seen.op.default_version = {3, 7, 3};
  world.settle();
  EXPECT_EQ(world.status().version.target->text(), "3.6.16");
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
}

}  // namespace
}  // namespace quorate::plan

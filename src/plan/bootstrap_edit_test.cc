#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

// What is declared anew before the cluster has formed.
namespace quorate::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// ---- Edits before it has formed ----

TEST(Bootstrap, WritesAnEditedVersionOnARecordBetweenItsPods) {
  auto world = with_pods();
  world.edit([](api::ClusterSpec& spec) { spec.version = api::EtcdVersion{3, 5, 35}; });
  EXPECT_THAT(steps_of<NoteVersion>(world.decide()), IsEmpty()) << "its Pod has the old one";
  world.pass();
  ASSERT_EQ(world.pod("c-0"), nullptr);
  auto decision = world.decide();
  ASSERT_THAT(steps_of<NoteVersion>(decision), SizeIs(1));
  EXPECT_EQ(steps_of<NoteVersion>(decision)[0].record, "c-0");
  EXPECT_THAT(steps_of<CreatePod>(decision), IsEmpty());
  world.pass();
  EXPECT_THAT(steps_of<CreatePod>(world.decide()), SizeIs(1));
}

TEST(Bootstrap, GoesBackToTheVersionThatFormedWhileAnotherWasTakenUp) {
  auto world = with_pods();
  world.edit([](api::ClusterSpec& spec) { spec.version = api::EtcdVersion{3, 5, 35}; });
  world.pass();
  ASSERT_EQ(world.pod("c-0"), nullptr);
  world.carry_out(world.decide(), 1);
  ASSERT_EQ(world.record("c-0")->spec.version.text(), "3.5.35");
  world.settle();  // the other two answer, with the version before
  EXPECT_EQ(world.status().cluster_id, World::kClusterId);
  EXPECT_EQ(world.record("c-0")->spec.version.text(), "3.6.16");
  EXPECT_EQ(world.status().version.target->text(), "3.6.16");
  EXPECT_EQ(world.status().ready, "3/3");
  EXPECT_THAT(message_of(world.decide(), "InvalidSpec"),
              HasSubstr("spec.version: cannot be changed from 3.6.16 to 3.5.35 yet"));
}

// What formed is what was declared, also for those who know nothing but the records.
TEST(Bootstrap, FormsWithTheVersionThatItTookUpAndStandsByIt) {
  auto world = with_pods();
  world.edit([](api::ClusterSpec& spec) { spec.version = api::EtcdVersion{3, 5, 35}; });
  for (int i = 0; i < 12; ++i) world.pass();  // every Pod is made anew
  world.set_version("3.5.35");
  world.settle();
  for (bool lost : {false, true}) {
    if (lost) world.lose_status();
    world.settle();
    EXPECT_EQ(condition(world.status(), "Ready"), "True");
    EXPECT_EQ(world.status().version.target->text(), "3.5.35");
    EXPECT_EQ(world.status().observed_generation, 2);
  }
}

TEST(Bootstrap, SaysSoWhenAMemberRunsAnotherVersionThanDeclared) {
  auto world = formed();
  world.set_version("3.6.15");
  world.answer();
  auto decision = world.decide();
  EXPECT_THAT(message_of(decision, "VersionDiffers"), HasSubstr("c-0 runs 3.6.15 and 3.6.16 is"));
  EXPECT_EQ(condition(*decision.status, "Ready"), "False");
  EXPECT_EQ(condition(*decision.status, "Available"), "True");
}

// ---- Changes before it has formed ----

TEST(Bootstrap, TakesUpACorrectedImageByNewPodsOnTheSameVolumes) {
  api::ClusterSpec spec;
  spec.image.tag = "no-such-tag";
  World world(spec);
  for (int i = 0; i < 4 && world.seen.pods.empty(); ++i) world.pass();
  for (auto& pod : world.seen.pods) {
    pod.etcd.waiting = "ImagePullBackOff";
    pod.etcd.waiting_message = "manifest unknown";
  }
  world.pass();
  EXPECT_THAT(message_of(world.decide(), "ImagePullBackOff"), HasSubstr("manifest unknown"));
  auto volumes = world.seen.claims;
  world.edit([](api::ClusterSpec& edited) { edited.image.tag.reset(); });
  for (int i = 0; i < 8; ++i) {
    EXPECT_LE(steps_of<ReplaceUnformedPod>(world.decide()).size(), 1u) << "one at a time";
    world.pass();
  }
  world.settle();
  EXPECT_THAT(world.pod_names(), ElementsAre("c-0", "c-1", "c-2"));
  for (const auto& volume : volumes) EXPECT_EQ(world.claim(volume.name)->uid, volume.uid);
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
  EXPECT_EQ(world.status().observed_generation, 2);
}

TEST(Bootstrap, FormsWithTheSizeThatItWasOpenedWith) {
  auto world = with_pods();
  world.edit([](api::ClusterSpec& edited) { edited.replicas = 5; });
  EXPECT_THAT(codes_of(world.decide(), "bootstrap"), Contains("ReplicasWait"));
  for (int i = 0; i < 6 && !world.status().cluster_id; ++i) {
    world.answer();
    world.pass();
  }
  EXPECT_THAT(world.pod_names(), SizeIs(3));
  EXPECT_EQ(world.status().cluster_id, World::kClusterId);
  EXPECT_EQ(world.status().observed_generation, 0);
  // And then it goes on from there.
  world.settle();
  EXPECT_THAT(world.pod_names(), SizeIs(5));
  EXPECT_THAT(world.voters(), SizeIs(5));
  EXPECT_EQ(world.status().observed_generation, 2);
}

TEST(Bootstrap, OfAClusterThatWasFormedAndLostAllIsLeftToAPerson) {
  auto world = formed(pod_bound());
  world.seen.pods.clear();
  world.seen.answers.clear();
  auto decision = world.decide();
  EXPECT_THAT(decision.stages, IsEmpty());
  EXPECT_THAT(codes_of(decision, "bootstrap"), ElementsAre("DataLost"));
  EXPECT_EQ(condition(*decision.status, "Frozen"), "True");
  world.seen.records.clear();
  EXPECT_THAT(codes_of(world.decide(), "bootstrap"), ElementsAre("DataLost"))
      << "status alone remembers it";
  EXPECT_THAT(world.decide().stages, IsEmpty());
}

}  // namespace
}  // namespace quorate::plan

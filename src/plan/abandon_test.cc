#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

// What keeps a formation from beginning, and when one is given up.
namespace quorate::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kUnsure =
    R"({"verdict":"unsure","member":"c-0","reason":"the directory was emptied","data":false})";

// ---- Names that are in the way ----

TEST(Bootstrap, WaitsForWhatAnEarlierClusterLeaves) {
  World world;
  RecordFacts old;
  old.name = "c-0";
  old.uid = Uid("old-record");
  old.controller = Uid("old-cluster");
  old.spec.identity.cluster_uid = Uid("old-cluster");
  world.seen.records.push_back(old);
  auto decision = world.decide();
  EXPECT_THAT(codes_of(decision, "bootstrap"), ElementsAre("OldObjects"));
  EXPECT_THAT(message_of(decision, "OldObjects"), HasSubstr("EtcdMember c-0"));
  EXPECT_THAT(steps_of<CreateRecord>(decision), IsEmpty());
  world.seen.records.clear();
  world.settle();
  EXPECT_THAT(world.pod_names(), ElementsAre("c-0", "c-1", "c-2"));
}

TEST(Bootstrap, StepsOverVolumesThatAnEarlierClusterKept) {
  World world;
  ClaimFacts old;
  old.name = "data-c-1";
  old.ordinal = Ordinal(1);
  old.uid = Uid("old-claim");
  old.identity = api::Identity{};
  old.identity->cluster_uid = Uid("old-cluster");
  old.identity->ordinal = Ordinal(1);
  old.identity->formation = {1, Ordinal(0), 3};
  old.identity->cluster_id = ClusterId(0xdead);
  world.seen.claims.push_back(old);
  world.settle();
  EXPECT_THAT(world.pod_names(), ElementsAre("c-2", "c-3", "c-4"));
  EXPECT_EQ(world.claim("data-c-1")->uid, Uid("old-claim")) << "it is left alone";
  EXPECT_EQ(world.status().cluster_id, World::kClusterId) << "and not believed";
}

TEST(Bootstrap, WaitsByNameForASecretThatSomebodyElseHas) {
  World world;
  SharedFacts other{.which = Shared::kPeerCa, .uid = Uid("theirs")};
  other.cluster_uid = Uid("other");
  world.seen.shared.push_back(other);
  auto decision = world.decide();
  EXPECT_THAT(message_of(decision, "NameTaken"), HasSubstr("Secret c-peer-ca"));
  world.pass();
  world.pass();
  world.pass();
  EXPECT_THAT(world.seen.pods, IsEmpty()) << "without a certificate no member starts";
  EXPECT_EQ(world.shared(Shared::kPeerCa)->uid, Uid("theirs"));
}

// ---- Giving up ----

TEST(Bootstrap, StartsAnewWhenAMemberLostItsDataBeforeThereWereKeys) {
  auto world = with_pods();
  world.end_container("c-0", launch::kExitUnsure, kUnsure);
  world.answer();
  auto decision = world.decide();
  const auto* step = disruptive_step(decision);
  ASSERT_NE(step, nullptr);
  ASSERT_TRUE(std::holds_alternative<AbandonFormation>(*step));
  EXPECT_THAT(permit_of(*step)->proof(), HasSubstr("found no keys"));
  world.pass();
  world.advance(std::chrono::seconds(30));
  world.settle();
  EXPECT_THAT(world.pod_names(), ElementsAre("c-3", "c-4", "c-5"));
  EXPECT_EQ(world.status().formation, 2);
  EXPECT_THAT(world.seen.records, SizeIs(3));
  EXPECT_THAT(world.seen.claims, SizeIs(3));
  EXPECT_EQ(world.status().cluster_id, ClusterId(World::kClusterId.value() + 1));
}

TEST(Bootstrap, KeepsNumberAndOrdinalsInMindUntilTheNextRecordsAreThere) {
  auto world = with_pods();
  world.end_container("c-0", launch::kExitUnsure, kUnsure);
  world.answer();
  world.pass();
  world.lose_status();
  auto decision = world.decide();
  auto discards = steps_of<DiscardFormation>(decision);
  ASSERT_THAT(discards, SizeIs(1));
  EXPECT_THAT(discards[0].pods, SizeIs(3));
  EXPECT_THAT(discards[0].records, IsEmpty()) << "the next formation has no records yet";
  world.advance(std::chrono::seconds(30));
  for (const auto& record : steps_of<CreateRecord>(world.decide())) {
    EXPECT_EQ(record.spec.identity.formation.number, 2);
    EXPECT_GE(record.spec.identity.ordinal.value(), 3);
  }
}

TEST(Bootstrap, OpensFormationsAtGrowingIntervals) {
  auto world = with_pods();
  world.end_container("c-0", launch::kExitUnsure, kUnsure);
  world.answer();
  world.pass();
  auto decision = world.decide();
  EXPECT_THAT(codes_of(decision, "bootstrap"), Contains("FormationBackoff"));
  EXPECT_THAT(steps_of<CreateRecord>(decision), IsEmpty());
  ASSERT_TRUE(decision.look_again_in);
  EXPECT_LE(*decision.look_again_in, std::chrono::seconds(5));
  world.advance(std::chrono::seconds(5));
  EXPECT_THAT(steps_of<CreateRecord>(world.decide()), SizeIs(3));
}

TEST(Bootstrap, TakesAQuorumWithKeysForFormedThoughAMemberIsLost) {
  auto world = with_pods();
  world.end_container("c-0", launch::kExitUnsure, kUnsure);
  world.set_keys(5);
  world.answer();
  auto decision = world.decide();
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_THAT(steps_of<NoteOnRecord>(decision), SizeIs(3));
}

TEST(Bootstrap, FreezesWhenItCannotProveThatNothingIsLost) {
  auto world = with_pods();
  world.end_container("c-0", launch::kExitUnsure, kUnsure);
  world.silence();
  auto decision = world.decide();
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_THAT(codes_of(decision, "bootstrap"), ElementsAre("FormationInDoubt"));
  EXPECT_EQ(condition(*decision.status, "Frozen"), "True");
  EXPECT_THAT(decision.status->phase, HasSubstr("Frozen: c-0"));
}

TEST(Bootstrap, NeverDeletesAVolumeWithDataOfNobody) {
  api::ClusterSpec spec;
  spec.replicas = 1;
  auto world = with_pods(spec);
  world.end_container("c-0", launch::kExitUnsure,
                      R"({"verdict":"unsure","reason":"there is data","data":true})");
  world.answer();
  auto decision = world.decide();
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_EQ(condition(*decision.status, "Frozen"), "True");
}

TEST(Bootstrap, StartsAnewWhenAClaimIsDeletedBeforeAnythingRan) {
  auto world = with_pods_made();
  world.pass();  // opens them
  world.delete_claim("data-c-1");
  auto decision = world.decide();
  const auto* step = disruptive_step(decision);
  ASSERT_NE(step, nullptr);
  EXPECT_THAT(permit_of(*step)->proof(), HasSubstr("can ever have started"));
  EXPECT_THAT(steps_of<CreateClaim>(decision), IsEmpty()) << "it is not made anew";
}

}  // namespace
}  // namespace quorate::plan

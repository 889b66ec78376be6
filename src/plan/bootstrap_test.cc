#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/names.h"
#include "plan/world_test.h"

namespace quorate::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Where the first Pod is told that the cluster has formed.
int first_told(const World& world) {
  for (int i = 0; i < static_cast<int>(world.history().size()); ++i)
    if (const auto* step =
            std::get_if<UpdatePodState>(&world.history()[static_cast<std::size_t>(i)]);
        step && step->state.identity.cluster_id)
      return i;
  return -1;
}

constexpr const char* kUnsure =
    R"({"verdict":"unsure","member":"c-0","reason":"the directory was emptied","data":false})";

World with_pods_made(api::ClusterSpec spec = {}) {
  World world(std::move(spec));
  for (int i = 0; i < 4 && world.seen.pods.empty(); ++i) world.pass();
  return world;
}

// Up to the point where all members run, and the operator has not seen it yet.
World with_pods(api::ClusterSpec spec = {}) {
  auto world = with_pods_made(std::move(spec));
  world.pass();  // opens them
  world.run_pods();
  return world;
}

// ---- How it goes ----

TEST(Bootstrap, FormsAClusterAndThenDoesNothing) {
  auto world = formed();
  EXPECT_THAT(world.pod_names(), ElementsAre("c-0", "c-1", "c-2"));
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
  EXPECT_EQ(world.status().phase, "Ready");
  EXPECT_EQ(world.status().cluster_id, World::kClusterId);
  EXPECT_EQ(world.status().observed_generation, 1);
  EXPECT_EQ(world.status().ready, "3/3");
  EXPECT_EQ(world.status().leader, "c-0");
  auto again = world.decide();
  EXPECT_THAT(again.stages, IsEmpty());
  EXPECT_EQ(again.status, world.seen.cluster.status) << "nothing to write";
  EXPECT_THAT(again.member_statuses, IsEmpty());
}

TEST(Bootstrap, WritesRecordsThenClaimsThenPodsThenIdentity) {
  auto world = formed();
  EXPECT_LT(position<CreateRecord>(world, true), position<CreateClaim>(world, false));
  EXPECT_LT(position<CreateClaim>(world, true), position<CreatePod>(world, false));
  EXPECT_LT(position<CreatePod>(world, true), position<AllowRun>(world, false));
  EXPECT_LT(position<AllowRun>(world, true), position<OpenNewPod>(world, false));
  EXPECT_LT(position<OpenNewPod>(world, true), position<UpdatePodState>(world, false));
  EXPECT_LT(position<AllowRun>(world, true), position<NoteOnRecord>(world, false));
  EXPECT_LT(position<NoteOnRecord>(world, true), first_told(world));
  EXPECT_LT(position<NoteOnClaim>(world, true), first_told(world));
  EXPECT_EQ(count<CreatePod>(world), 3);
}

TEST(Bootstrap, StaysWithinItsBudgetOfWrites) {
  auto world = formed();
  // Beside these: a few writes of status.
  EXPECT_LE(world.history().size(), 34u);
}

TEST(Bootstrap, GivesEveryMemberTheSameClusterAndToken) {
  World world;
  std::vector<CreatePod> pods;
  for (int i = 0; i < 4 && pods.empty(); ++i) {
    pods = steps_of<CreatePod>(world.decide());
    world.pass();
  }
  ASSERT_THAT(pods, SizeIs(3));
  for (const auto& pod : pods) {
    EXPECT_EQ(pod.state.initial_cluster,
              "c-0=https://c-0.c-peer.n.svc:2380,c-1=https://c-1.c-peer.n.svc:2380,"
              "c-2=https://c-2.c-peer.n.svc:2380");
    EXPECT_EQ(pod.shape.token, "cluster-uid-1");
    EXPECT_TRUE(pod.state.held);
    EXPECT_TRUE(pod.first_pod);
    EXPECT_EQ(pod.shape.image, "gcr.io/etcd-development/etcd:v3.6.16");
  }
}

// Between the Pod and the record's leave to run nothing is started; from then on another Pod is not
// the first, and says so by what it does not say.
TEST(Bootstrap, OpensAPodWhenItsRecordSaysThatItMayRun) {
  World world;
  world.refuses = [](const Step& step) { return std::holds_alternative<AllowRun>(step); };
  for (int i = 0; i < 4; ++i) world.pass();
  ASSERT_THAT(world.seen.pods, SizeIs(3));
  for (const auto& pod : world.seen.pods) EXPECT_TRUE(pod.held && pod.first_pod) << pod.name;
  world.delete_pod("c-1");  // it cannot have run
  world.refuses = nullptr;
  world.pass();
  ASSERT_TRUE(world.pod("c-1"));
  EXPECT_TRUE(world.pod("c-1")->held && world.pod("c-1")->first_pod);
  world.pass();
  for (const auto& pod : world.seen.pods) EXPECT_TRUE(!pod.held && pod.formation_open) << pod.name;
  world.delete_pod("c-1");
  world.pass();
  ASSERT_TRUE(world.pod("c-1"));
  EXPECT_FALSE(world.pod("c-1")->held || world.pod("c-1")->first_pod);
}

// A kubelet that starts a held Pod twice leaves it alone for ten seconds: nobody has to look at it
// in between.
TEST(Bootstrap, MakesAndOpensFirstPodsInOnePass) {
  for (const auto& spec : {api::ClusterSpec(), pod_bound()}) {
    auto world = with_pods_made(spec);
    ASSERT_THAT(world.seen.pods, SizeIs(3));
    for (const auto& pod : world.seen.pods) {
      EXPECT_TRUE(pod.first_pod && pod.formation_open && !pod.held) << pod.name;
      EXPECT_TRUE(world.record(pod.name)->spec.run);
    }
  }
}

TEST(Bootstrap, OpensNoPodWhoseMakingWasRefused) {
  for (const auto& spec : {api::ClusterSpec(), pod_bound()}) {
    World world(spec);
    world.refuses = [](const Step& step) {
      const auto* pod = std::get_if<CreatePod>(&step);
      return pod && pod->shape.name == "c-1";
    };
    for (int i = 0; i < 4; ++i) world.pass();
    EXPECT_EQ(world.pod("c-1"), nullptr);
    EXPECT_FALSE(world.record("c-1")->spec.run);
    ASSERT_TRUE(world.pod("c-0"));
    EXPECT_EQ(world.pod("c-0")->held, spec.storage.empty_dir.has_value())
        << "where data goes with the Pod all of them have to be there first";
  }
}

// Whom Pods trust is not known while a certificate is missing; that is no reason to replace them.
TEST(Bootstrap, ALostCertificateNeitherReplacesPodsNorGivesTheFormationUp) {
  for (const auto& spec : {api::ClusterSpec(), pod_bound()}) {
    auto world = with_pods(spec);
    world.silence();
    std::erase_if(world.seen.shared,
                  [](const SharedFacts& one) { return one.which == Shared::kPeerTls; });
    const auto decision = world.decide();
    EXPECT_EQ(disruptive_step(decision), nullptr);
    EXPECT_THAT(steps_of<IssueLeaf>(decision), SizeIs(1));
    world.settle();
    EXPECT_EQ(count<CreatePod>(world), 3);
    EXPECT_EQ(world.status().formation, 1);
  }
}

TEST(Bootstrap, TellsEveryWitnessBeforeItSendsClients) {
  auto world = with_pods();
  world.answer();
  world.pass();  // identity on records, claims, Pods
  for (const auto& pod : world.seen.pods) {
    EXPECT_EQ(pod.identity->cluster_id, World::kClusterId);
    EXPECT_TRUE(pod.identity->started);
    EXPECT_FALSE(pod.formation_open);
  }
  const auto& rendered = world.shared(Shared::kClientService)->rendered;
  EXPECT_TRUE(rendered.ends_with("-shut")) << rendered;
  world.pass();
  EXPECT_FALSE(rendered.ends_with("-shut")) << rendered;
  for (const auto& pod : world.seen.pods) EXPECT_TRUE(pod.serving);
}

TEST(Bootstrap, SendsNoClientsWhileOneWitnessCannotBeTold) {
  auto world = with_pods();
  world.refuses = [](const Step& step) {
    const auto* note = std::get_if<NoteOnClaim>(&step);
    return note && note->claim == "data-c-1";
  };
  for (int i = 0; i < 5; ++i) {
    world.answer();
    world.pass();
  }
  for (const auto& pod : world.seen.pods) {
    EXPECT_FALSE(pod.serving);
    EXPECT_FALSE(pod.identity->cluster_id) << "Pods come after all claims";
  }
  world.refuses = nullptr;
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
}

TEST(Bootstrap, BelievesAQuorumAndNoFewer) {
  auto world = with_pods();
  world.answer();
  world.seen.answers.resize(1);
  EXPECT_THAT(steps_of<NoteOnRecord>(world.decide()), IsEmpty());
  world.answer();
  world.seen.answers.resize(2);
  EXPECT_THAT(steps_of<NoteOnRecord>(world.decide()), SizeIs(3));
}

TEST(Bootstrap, BelievesOnlyTheListOfItsFormation) {
  auto world = with_pods();
  auto with_list = [&](const std::function<void(std::vector<ListedMember>&)>& change) {
    world.answer();
    for (auto& answer : world.seen.answers) change(*answer.members);
    return steps_of<NoteOnRecord>(world.decide()).size();
  };
  EXPECT_EQ(with_list([](auto&) {}), 3u);
  EXPECT_EQ(with_list([](auto& list) { list.pop_back(); }), 0u);
  EXPECT_EQ(with_list([](auto& list) { list.push_back(list.front()); }), 0u);
  EXPECT_EQ(with_list([](auto& list) { list[0].peer_urls = {"https://elsewhere:2380"}; }), 0u);
  EXPECT_EQ(with_list([](auto& list) { list[0].learner = true; }), 0u);
  EXPECT_EQ(with_list([](auto& list) {
              for (auto& one : list) one.id = MemberId(one.id.value() + 9);
            }),
            0u)
      << "no member answers as the one that the list has for its URL";
  world.answer();
  for (auto& answer : world.seen.answers) answer.members.reset();
  EXPECT_THAT(steps_of<NoteOnRecord>(world.decide()), IsEmpty()) << "no quorum read";
  world.answer();
  for (auto& answer : world.seen.answers) answer.asked_at -= std::chrono::seconds(5);
  EXPECT_THAT(steps_of<NoteOnRecord>(world.decide()), IsEmpty()) << "asked before this attempt";
}

TEST(Bootstrap, LetsALateMemberJoin) {
  auto world = with_pods_made();
  world.pass();  // opens them
  world.pod("c-2")->etcd.waiting = "ContainerCreating";
  world.run_pods();
  world.answer();
  world.pass();
  world.pass();
  EXPECT_TRUE(world.pod("c-0")->serving);
  EXPECT_FALSE(world.pod("c-2")->serving);
  EXPECT_FALSE(world.pod("c-2")->formation_open);
  EXPECT_FALSE(world.pod("c-2")->identity->started) << "it may still start with an empty log";
  EXPECT_EQ(world.pod("c-2")->identity->member_id, World::member_id(Ordinal(2)));
  world.pod("c-2")->etcd.waiting.reset();
  world.settle();
  EXPECT_TRUE(world.pod("c-2")->serving);
  EXPECT_TRUE(world.claim("data-c-2")->identity->started);
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
}

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

// ---- Written down once ----

// The third member is a moment later than the others.
World with_two_of_three() {
  World world;
  for (int i = 0; i < 10 && world.seen.pods.size() < 3; ++i) world.pass();
  for (int i = 0; i < 3; ++i) world.pass();
  world.run_pods();
  world.answer();
  EXPECT_THAT(world.seen.answers, SizeIs(3));
  std::erase_if(world.seen.answers, [](const auto& one) { return one.ordinal == Ordinal(2); });
  for (auto& answer : world.seen.answers) answer.alike_since = world.seen.now.monotonic;
  return world;
}

TEST(Bootstrap, WaitsAMomentForTheRestOfTheFormation) {
  auto world = with_two_of_three();
  EXPECT_THAT(codes_of(world.decide(), "bootstrap"), ElementsAre("Forming"));
  EXPECT_THAT(steps_of<NoteOnRecord>(world.decide()), IsEmpty());
  // It answers: all are written down at once.
  world.answer();
  for (auto& answer : world.seen.answers) answer.alike_since = world.seen.now.monotonic;
  EXPECT_THAT(codes_of(world.decide(), "bootstrap"), ElementsAre("RecordingIdentity"));
  world.settle();
  EXPECT_EQ(count<NoteOnRecord>(world), 3);
  EXPECT_EQ(count<NoteOnClaim>(world), 3);
}

TEST(Bootstrap, DoesNotWaitLongForTheRestOfTheFormation) {
  auto world = with_two_of_three();
  const auto since = world.seen.now.monotonic;
  world.advance(std::chrono::seconds(2));
  for (auto& answer : world.seen.answers) {
    answer.asked_at = world.seen.now.monotonic;
    answer.alike_since = since;
  }
  EXPECT_THAT(codes_of(world.decide(), "bootstrap"), ElementsAre("RecordingIdentity"));
}

}  // namespace
}  // namespace quorate::plan

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

// How a cluster forms, and what is written down on the way.
namespace quorate::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
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
  EXPECT_TRUE(world.pod("c-1")->first_pod);
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
    world.refuses = nullptr;
    world.settle();
    EXPECT_EQ(condition(world.status(), "Ready"), "True");
    EXPECT_EQ(world.status().formation, 1);
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

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

// Members that cannot come back.
namespace quorate::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kLost =
    R"({"verdict":"lost","member":"c-1","reason":"the directory has no log","data":false})";

void lose_volume(World& world, const std::string& member) {
  world.delete_pod(member);
  world.delete_claim("data-" + member);
}

TEST(Heal, ReplacesAMemberWhoseVolumeIsGoneUnderAnotherOrdinal) {
  auto world = formed();
  lose_volume(world, "c-1");
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-3"));
  EXPECT_THAT(world.pod_names(), ElementsAre("c-0", "c-2", "c-3"));
  EXPECT_EQ(world.record("c-1"), nullptr);
  EXPECT_LT(position<RemoveMember>(world), position<AddLearner>(world))
      << "three: remove, then add";
}

TEST(Heal, ReplacesAMemberWhoseDataTheGuardMisses) {
  auto world = formed();
  world.end_container("c-1", 64, kLost);
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-3"));
  EXPECT_EQ(world.claim("data-c-1"), nullptr);
}

// An older copy of the volume that the guard cannot tell from the right one: etcd can.
TEST(Heal, ReplacesAMemberWhoseLogLacksWhatItAcknowledgedOnceThatRepeats) {
  auto world = formed();
  const auto end = [&](int restarts, int code, const char* log) {
    world.end_container("c-1", code, log);
    world.pod("c-1")->etcd.restarts = restarts;
    world.answer();
    return codes_of(world.decide(), "heal");
  };
  constexpr const char* kShort = "panic: tocommit(9) is out of range [lastIndex(8)].\n";
  EXPECT_THAT(end(1, 2, kShort), IsEmpty()) << "once is no habit";
  EXPECT_THAT(end(5, 2, "panic: runtime error\n"), IsEmpty());
  EXPECT_THAT(end(5, 1, kShort), IsEmpty()) << "a panic ends with 2";
  EXPECT_THAT(end(2, 2, kShort), Not(IsEmpty()));
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-3"));
}

TEST(Heal, KeepsAMemberWhoseLogLacksSomethingWhileItIsNeeded) {
  auto world = formed();
  world.end_container("c-1", 2, "panic: tocommit(9) is out of range [lastIndex(8)].\n");
  world.pod("c-1")->etcd.restarts = 7;
  world.end_container("c-2", 1, "no space left on device\n");
  world.answer();
  const auto decision = world.decide();
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_THAT(message_of(decision, "MemberDataLost"), HasSubstr("its volume is an older copy"));
}

TEST(Heal, ReplacesAPodBoundMemberAtOnce) {
  auto world = formed(3, pod_bound());
  world.delete_pod("c-0");
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
  EXPECT_THAT(world.voters(), ElementsAre("c-1", "c-2", "c-3"));
}

TEST(Heal, ReplacesAMemberOfWhichNothingIsLeft) {
  auto world = formed();
  lose_volume(world, "c-2");
  world.delete_record("c-2");
  world.settle();
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-1", "c-3"));
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
}

TEST(Heal, LetsAnotherLearnFirstWhereThereAreFive) {
  auto world = formed(5);
  lose_volume(world, "c-1");
  world.settle();
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-3", "c-4", "c-5"));
  EXPECT_LT(position<AddLearner>(world), position<RemoveMember>(world));
  EXPECT_LT(position<RemoveMember>(world), position<PromoteLearner>(world));
}

TEST(Heal, ReplacesTwoOfFiveOneAfterTheOther) {
  auto world = formed(5);
  lose_volume(world, "c-1");
  lose_volume(world, "c-3");
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-4", "c-5", "c-6"));
}

TEST(Heal, ReplacesALostLearner) {
  auto world = formed();
  world.edit([](api::ClusterSpec& spec) { spec.replicas = 4; });
  for (int i = 0; i < 30 && !world.pod("c-3"); ++i) {
    world.run_pods();
    world.answer();
    world.pass();
    world.advance(std::chrono::seconds(1));
  }
  ASSERT_NE(world.pod("c-3"), nullptr);
  world.end_container("c-3", 65, kLost);
  world.settle();
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-1", "c-2", "c-4"));
}

TEST(Heal, TouchesNothingWithoutAQuorum) {
  auto world = formed();
  lose_volume(world, "c-1");
  world.end_container("c-2", 137, "");
  for (int i = 0; i < 10; ++i) {
    world.answer();
    EXPECT_EQ(disruptive_step(world.decide()), nullptr);
    world.pass();
    world.advance(std::chrono::seconds(1));
  }
  EXPECT_THAT(codes_of(world.decide(), "quorum loss"), ElementsAre("NoQuorum"));
  EXPECT_THAT(codes_of(world.decide(), "heal"), ElementsAre("MemberDataLost"));
  world.pod("c-2")->etcd = {};
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
}

TEST(Heal, RemovesNobodyForSilenceAlone) {
  auto world = formed();
  for (int i = 0; i < 100; ++i) {
    world.advance(std::chrono::minutes(10));
    world.answer();
    std::erase_if(world.seen.answers,
                  [](const auto& answer) { return answer.ordinal.value() == 1; });
    world.pod("c-1")->ready = false;
    auto decision = world.decide();
    ASSERT_EQ(disruptive_step(decision), nullptr);
    world.publish(decision);
  }
}

TEST(Heal, MovesLeadershipAwayFromALostMemberThatStillRuns) {
  auto world = formed();
  world.set_leader(Ordinal(1));
  world.delete_claim("data-c-1");
  for (int i = 0; i < 6 && position<MoveLeader>(world) < 0; ++i) {
    world.answer();
    world.pass();
  }
  EXPECT_GE(position<MoveLeader>(world), 0);
  world.settle();
  EXPECT_LT(position<MoveLeader>(world), position<RemoveMember>(world));
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-3"));
}

TEST(Heal, KeepsTheVolumeUntilTheIdIsGone) {
  auto world = formed();
  world.end_container("c-1", 64, kLost);
  for (int i = 0; i < 40; ++i) {
    world.run_pods();
    world.answer();
    const auto voters = world.voters();
    const bool listed = std::find(voters.begin(), voters.end(), "c-1") != voters.end();
    if (listed) {
      EXPECT_NE(world.claim("data-c-1"), nullptr);
      EXPECT_NE(world.record("c-1"), nullptr);
    }
    world.pass();
    world.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(world.record("c-1"), nullptr);
}

TEST(Heal, RemovesALearnerThatWasListedAfterItWasGivenUp) {
  auto world = formed();
  world.edit([](api::ClusterSpec& spec) { spec.replicas = 4; });
  for (int i = 0; i < 10 && !world.record("c-3"); ++i) {
    world.answer();
    world.pass();
  }
  const auto url = world.record("c-3")->spec.peer_url;
  world.edit([](api::ClusterSpec& spec) { spec.replicas = 3; });
  world.settle();
  ASSERT_EQ(world.record("c-3"), nullptr);
  world.list().push_back({World::member_id(Ordinal(3)), "", {url}, true, false});
  world.delete_pod("c-0");  // something to look for
  world.settle();
  EXPECT_THAT(world.list(), SizeIs(3));
}

TEST(Heal, FreezesAPodBoundClusterThatLostAllItsPods) {
  auto world = formed(3, pod_bound());
  for (const char* name : {"c-0", "c-1", "c-2"}) world.delete_pod(name);
  world.settle();
  EXPECT_EQ(condition(world.status(), "Frozen"), "True");
  EXPECT_THAT(world.pod_names(), IsEmpty());
}

// ---- Nodes that are gone ----

TEST(Heal, ReplacesAMemberWhosePodNobodyEndsWhenItsTimeIsUp) {
  auto world = formed();
  auto* pod = world.pod("c-1");
  pod->deleting = true;
  pod->deleting_since = world.seen.now.wall;
  pod->ready = false;
  pod->etcd.running = false;
  for (int i = 0; i < 20; ++i) {
    world.answer();
    EXPECT_EQ(disruptive_step(world.decide()), nullptr) << i;
    world.pass();
    world.advance(std::chrono::seconds(14));
  }
  EXPECT_THAT(codes_of(world.decide(), "heal"), ElementsAre("NodeGone"));
  world.advance(std::chrono::seconds(30));
  for (int i = 0; i < 40; ++i) {
    world.run_pods();
    world.answer();
    world.pass();
    world.advance(std::chrono::seconds(1));
  }
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-3"));
  EXPECT_NE(world.claim("data-c-1"), nullptr) << "until its Pod is gone";
  EXPECT_FALSE(world.pod("c-1")->serving);
  world.delete_pod("c-1");  // the node returns, and ends it
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
  EXPECT_EQ(world.claim("data-c-1"), nullptr);
}

TEST(Heal, KnowsAVolumeWithoutANodeFromANodeWithoutRoom) {
  auto world = formed();
  world.delete_pod("c-1");
  world.pass();
  auto* pod = world.pod("c-1");
  ASSERT_NE(pod, nullptr);
  pod->unschedulable_since = world.seen.now.wall;
  for (const char* elsewhere :
       {"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had volume node affinity conflict.",
        "0/3 nodes are available: 2 node(s) had volume node affinity conflict, 1 Insufficient cpu.",
        "", "no nodes"}) {
    world.pod("c-1")->unschedulable = elsewhere;
    world.advance(std::chrono::minutes(10));
    world.answer();
    EXPECT_EQ(disruptive_step(world.decide()), nullptr) << elsewhere;
  }
  world.pod("c-1")->unschedulable =
      "0/3 nodes are available: 3 node(s) had volume node affinity conflict. preemption: 0/3 ...";
  EXPECT_THAT(message_of(world.decide(), "RemovingMember"), HasSubstr("its node is gone"));
}

// ---- Members that went behind our back ----

TEST(Settle, CleansUpAfterAMemberThatSomebodyRemoved) {
  auto world = formed();
  std::erase_if(world.list(),
                [](const auto& one) { return one.id == World::member_id(Ordinal(1)); });
  world.end_container("c-1", 1, "");
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-3"));
}

TEST(Settle, FinishesTheMarksOfACrashedOperator) {
  auto world = formed();
  std::erase_if(world.list(),
                [](const auto& one) { return one.id == World::member_id(Ordinal(1)); });
  world.end_container("c-1", 1, "");
  world.record("c-1")->spec.identity.removed = true;  // and then it crashed
  world.settle();
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-3"));
  EXPECT_EQ(world.claim("data-c-1"), nullptr);
}

TEST(Settle, RebuildsTheRecordOfAMemberThatJoined) {
  auto world = formed(1);
  world.edit([](api::ClusterSpec& spec) { spec.replicas = 3; });
  world.settle();
  const auto before = world.record("c-2")->spec;
  world.delete_record("c-2");
  world.settle();
  ASSERT_NE(world.record("c-2"), nullptr);
  auto after = world.record("c-2")->spec;
  EXPECT_EQ(after.identity, before.identity);
  EXPECT_EQ(after.role, before.role);
  EXPECT_EQ(after.run, before.run);
}

// The node is not heard from: Kubernetes says so of the Pod long before it deletes it.
TEST(Heal, CountsFromWhenTheNodeFellSilentAndNotFromWhenItsPodIsDeleted) {
  auto world = formed(3);
  world.edit(
      [](api::ClusterSpec& spec) { spec.recovery.replace_after = std::chrono::seconds(60); });
  world.settle();
  const auto fall_silent = [&] {
    auto* pod = world.pod("c-1");
    pod->ready = false;
    std::erase_if(world.seen.answers, [](const auto& one) { return one.ordinal == Ordinal(1); });
  };
  const auto since = world.seen.now.wall;
  const auto look = [&] {
    world.answer();
    fall_silent();
    world.pod("c-1")->node_silent_since = since;
    return world.decide();
  };
  EXPECT_THAT(codes_of(look(), "heal"), ElementsAre("NodeGone"));
  world.advance(std::chrono::seconds(59));
  EXPECT_EQ(disruptive_step(look()), nullptr) << "it may still return";
  // Meanwhile the Pod is deleted: that begins no new count.
  world.pod("c-1")->deleting = true;
  world.pod("c-1")->deleting_since = world.seen.now.wall;
  world.pod("c-1")->serving = false;
  world.advance(std::chrono::seconds(1));
  EXPECT_THAT(steps_of<RemoveMember>(look()), SizeIs(1));
}

// Nobody ends a Pod whose node is silent. Its member was replaced: nothing declared is missing.
TEST(Heal, IsReadyWhileThePodOfAReplacedMemberWaitsForItsNode) {
  auto world = formed(3);
  auto* pod = world.pod("c-1");
  pod->ready = pod->serving = pod->etcd.running = false;
  pod->deleting = true;
  pod->node = "n2";
  pod->node_silent_since = pod->deleting_since = world.seen.now.wall - std::chrono::hours(1);
  world.settle();
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-3"));
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
  EXPECT_EQ(world.status().phase, "Ready");
  EXPECT_EQ(world.status().observed_generation, world.seen.cluster.generation);
  EXPECT_THAT(codes_of(world.decide(), "settle"), ElementsAre("NodeAway")) << "and it is told";
  ASSERT_NE(world.record("c-1"), nullptr) << "it remembers that c-1 must not run again";

  world.delete_pod("c-1");
  world.settle();
  EXPECT_EQ(world.record("c-1"), nullptr);
  EXPECT_THAT(world.status().waiting, IsEmpty());
}

TEST(Heal, LetsAMemberBeThatAnswersAlthoughItsNodeIsSilent) {
  auto world = formed(3);
  world.advance(std::chrono::hours(1));
  world.answer();
  world.pod("c-1")->ready = false;
  world.pod("c-1")->node_silent_since = world.seen.now.wall - std::chrono::hours(1);
  EXPECT_THAT(codes_of(world.decide(), "heal"), IsEmpty());
}

}  // namespace
}  // namespace quorate::plan

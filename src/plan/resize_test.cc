#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/names.h"
#include "plan/gate.h"
#include "plan/world_test.h"

// More members and fewer: resize, promote and settle.
namespace quorate::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Passes until a step of this kind is decided, which is not taken yet.
template <class T>
std::optional<T> until(World& world, int passes = 40) {
  for (int i = 0; i < passes; ++i) {
    world.run_pods();
    world.answer();
    auto found = steps_of<T>(world.decide());
    if (!found.empty()) return found.front();
    next(world);
  }
  return std::nullopt;
}

void expect_ready(World& world, int replicas) {
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << world.status().phase;
  EXPECT_THAT(world.voters(), SizeIs(static_cast<std::size_t>(replicas)));
  EXPECT_THAT(world.seen.pods, SizeIs(static_cast<std::size_t>(replicas)));
  EXPECT_THAT(world.seen.records, SizeIs(static_cast<std::size_t>(replicas)));
  EXPECT_EQ(world.status().observed_generation, world.seen.cluster.generation);
  EXPECT_EQ(world.status().cluster_id, World::kClusterId);
  EXPECT_THAT(world.decide().stages, IsEmpty());
}

// ---- The whole way ----

TEST(Resize, GoesUpAndDownAndUpAgain) {
  auto world = formed(1);
  for (int size : {3, 5, 3, 1, 2, 4}) {
    scale(world, size);
    world.settle();
    expect_ready(world, size);
  }
  EXPECT_THAT(world.seen.claims, SizeIs(4)) << "volumes of removed members are deleted";
}

TEST(Resize, NeverUsesAnOrdinalTwice) {
  auto world = formed(3);
  for (int size : {4, 3, 4, 3, 1, 3}) {
    scale(world, size);
    world.settle();
  }
  std::set<std::string> names;
  for (const auto& step : taken<CreateRecord>(world))
    EXPECT_TRUE(names.insert(step.name).second) << step.name;
  world.lose_status();
  scale(world, 4);
  world.settle();
  EXPECT_TRUE(names.insert(taken<CreateRecord>(world).back().name).second)
      << "nor after status was lost";
}

TEST(Resize, WorksForPodBoundMembers) {
  api::ClusterSpec spec;
  spec.storage = {std::nullopt, api::EmptyDirStorage{}, {}};
  auto world = formed(1, spec);
  for (int size : {3, 1}) {
    scale(world, size);
    world.settle();
    expect_ready(world, size);
  }
}

// Wherever the operator dies, it ends in the same way, and nothing is done twice.
TEST(Resize, CanBeInterruptedAnywhere) {
  for (int crash = 1; crash < 12; ++crash) {
    auto world = formed(1);
    scale(world, 3);
    for (int i = 0; i < 60; ++i) {
      world.run_pods();
      world.answer();
      world.pass(i % 3 == 0 ? crash % 4 : 1000);
      if (i % 7 == crash % 7) world.lose_status();
      world.advance(std::chrono::seconds(1));
    }
    world.settle();
    expect_ready(world, 3);
    EXPECT_THAT(taken<AddLearner>(world), SizeIs(2)) << crash;
    EXPECT_THAT(taken<CreateRecord>(world), SizeIs(3)) << crash;
  }
}

// ---- One more ----

TEST(Resize, WritesTheRecordAndMakesTheVolumeBeforeEtcdIsTold) {
  auto world = formed(3);
  scale(world, 4);
  auto add = until<AddLearner>(world);
  ASSERT_TRUE(add);
  EXPECT_EQ(add->name, "c-3");
  EXPECT_EQ(add->peer_url, world.record("c-3")->spec.peer_url);
  EXPECT_EQ(world.record("c-3")->spec.role, api::MemberRole::kLearner);
  EXPECT_EQ(world.record("c-3")->spec.identity.cluster_id, World::kClusterId);
  EXPECT_NE(world.claim("data-c-3"), nullptr);
  EXPECT_EQ(world.pod("c-3"), nullptr) << "etcd has to know it first";
}

TEST(Resize, MakesTheVolumeInThePassThatWritesTheRecord) {
  auto world = formed(3);
  scale(world, 4);
  ASSERT_TRUE(until<CreateRecord>(world));
  const auto decision = world.decide();
  EXPECT_THAT(steps_of<CreateClaim>(decision), SizeIs(1));
  world.refuses = [](const Step& step) { return std::holds_alternative<CreateRecord>(step); };
  next(world);
  EXPECT_EQ(world.claim("data-c-3"), nullptr) << "not before its record";
}

TEST(Resize, WritesTheIdBeforeItMakesThePodThatKnowsIt) {
  auto world = formed(3);
  scale(world, 4);
  ASSERT_TRUE(until<AddLearner>(world));
  world.refuses = [](const Step& step) { return std::holds_alternative<NoteOnRecord>(step); };
  for (int i = 0; i < 3; ++i) next(world);
  EXPECT_EQ(world.pod("c-3"), nullptr);
  world.refuses = nullptr;
  next(world);
  ASSERT_NE(world.pod("c-3"), nullptr);
  EXPECT_EQ(world.record("c-3")->spec.identity.member_id, World::member_id(Ordinal(3)));
  EXPECT_TRUE(world.pod("c-3")->first_pod && !world.pod("c-3")->held);
}

TEST(Resize, TellsTheNewMemberWhoIsThere) {
  auto world = formed(1);
  scale(world, 2);
  auto pod = until<CreatePod>(world);
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->state.initial_cluster,
            "c-0=https://c-0.c-peer.n.svc:2380,c-1=https://c-1.c-peer.n.svc:2380");
  EXPECT_FALSE(pod->state.formation_open);
  EXPECT_TRUE(pod->state.held) << "until its record says that it may run";
  EXPECT_TRUE(pod->first_pod);
  EXPECT_EQ(pod->state.identity.cluster_id, World::kClusterId);
  EXPECT_EQ(pod->state.identity.member_id, World::member_id(Ordinal(1)));
  EXPECT_FALSE(pod->voter);
}

TEST(Resize, FindsALearnerAgainWhoseAdditionWasNotAnswered) {
  auto world = formed(3);
  scale(world, 4);
  auto add = until<AddLearner>(world);
  ASSERT_TRUE(add);
  world.list().push_back({World::member_id(Ordinal(3)), "", {add->peer_url}, true, false});
  world.settle();
  expect_ready(world, 4);
  EXPECT_THAT(taken<AddLearner>(world), IsEmpty());
}

TEST(Resize, WaitsWhileItIsUnknownWhatBecameOfTheLastStep) {
  auto world = formed(3);
  scale(world, 4);
  ASSERT_TRUE(until<AddLearner>(world));
  world.leave_intent("add learner c-3");
  auto decision = world.decide();
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_THAT(codes_of(decision, "settle"), Contains("OutcomeUnknown"));
  EXPECT_TRUE(decision.status->intent) << "until it is known, it stays";
  world.advance(std::chrono::seconds(16));
  world.answer();
  EXPECT_NE(disruptive_step(world.decide()), nullptr);
  EXPECT_FALSE(world.decide().status->intent);
}

// Every write of ours wakes us: what etcd refuses must not be tried at each of them (E6).
TEST(Resize, LeavesEtcdInPeaceForAMomentAfterItRefused) {
  auto world = formed(3);
  scale(world, 4);
  ASSERT_TRUE(until<AddLearner>(world));
  Refusal refusal{"learner c-3", "add", "unhealthy cluster", true, world.seen.now.wall};
  refusal.refused_at = world.seen.now.monotonic;
  world.seen.refusals = {refusal};
  EXPECT_EQ(disruptive_step(world.decide()), nullptr);
  EXPECT_THAT(codes_of(world.decide(), "settle"), ElementsAre("StepRefused"));
  world.advance(std::chrono::seconds(1));
  world.answer();
  EXPECT_NE(disruptive_step(world.decide()), nullptr);
}

TEST(Resize, AsksAnEtcdThatKeepsRefusingLessOften) {
  Refusal refusal{"learner c-3", "add", "unhealthy cluster", true, {}};
  const Monotonic now{std::chrono::hours(1)};
  refusal.refused_at = now;
  const auto rest = [&](Duration refused_for) {
    refusal.refused_for = refused_for;
    int seconds = 0;
    while (is_left_in_peace(refusal, now + std::chrono::seconds(seconds))) ++seconds;
    return seconds;
  };
  EXPECT_EQ(rest(std::chrono::seconds(0)), 1);
  EXPECT_EQ(rest(std::chrono::seconds(6)), 3);
  EXPECT_EQ(rest(std::chrono::hours(1)), 5);
}

TEST(Resize, AddsNobodyWhileAVoterIsDown) {
  auto world = formed(3);
  scale(world, 5);
  world.end_container("c-2", 137, "");
  for (int i = 0; i < 10; ++i) {
    world.answer();
    auto decision = world.decide();
    EXPECT_EQ(disruptive_step(decision), nullptr);
    world.pass();
    world.advance(std::chrono::seconds(1));
  }
  world.answer();
  EXPECT_THAT(message_of(world.decide(), "VotersUnhealthy"), HasSubstr("c-2"));
  world.pod("c-2")->etcd = {};
  world.settle();
  expect_ready(world, 5);
}

TEST(Resize, TakesBackWhoIsNotWantedAnyMore) {
  for (int passes = 1; passes < 14; ++passes) {
    auto world = formed(3);
    scale(world, 5);
    for (int i = 0; i < passes; ++i) next(world);
    scale(world, 3);
    world.settle();
    expect_ready(world, 3);
    EXPECT_THAT(world.seen.claims, SizeIs(3)) << passes;
  }
}

// ---- Promotion ----

TEST(Promote, WaitsUntilTheLearnerHasWhatTheLeaderHas) {
  auto world = formed(3);
  scale(world, 4);
  ASSERT_TRUE(until<PromoteLearner>(world));
  for (auto& answer : world.seen.answers)
    if (!answer.learner) answer.applied = RaftIndex(1'000'000);
  auto decision = world.decide();
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_THAT(codes_of(decision, "promote"), ElementsAre("LearnerSyncing"));
}

// The kubelet tells of a container's start a second late, and etcd need not wait for that.
TEST(Promote, BelievesALearnerThatAnswersBeforeItsStartIsTold) {
  auto world = formed(3);
  scale(world, 4);
  ASSERT_TRUE(until<PromoteLearner>(world));
  world.pod("c-3")->etcd = {};
  EXPECT_THAT(steps_of<PromoteLearner>(world.decide()), SizeIs(1));
  world.pod("c-3")->etcd.last = Terminated{};
  EXPECT_THAT(steps_of<PromoteLearner>(world.decide()), IsEmpty()) << "it may have ended since";
  world.pod("c-3")->etcd = {};
  world.pod("c-3")->held = true;
  EXPECT_THAT(steps_of<PromoteLearner>(world.decide()), IsEmpty()) << "nothing starts in it";
}

// Nobody tells us what changes inside etcd: we ask often while it is likely to.
TEST(Promote, LooksOftenAtALearnerAndLessOftenAtOneThatLags) {
  auto world = formed(3);
  scale(world, 4);
  ASSERT_TRUE(until<PromoteLearner>(world));
  const auto lags = [&] {
    world.answer();
    for (auto& answer : world.seen.answers)
      if (!answer.learner) answer.applied = RaftIndex(1'000'000);
    auto decision = world.decide();
    EXPECT_THAT(codes_of(decision, "promote"), ElementsAre("LearnerSyncing"));
    world.publish(decision);
    return decision.look_again_in;
  };
  EXPECT_EQ(lags(), std::chrono::milliseconds(200));
  world.advance(std::chrono::seconds(4));
  const auto later = lags();
  EXPECT_GT(later, std::chrono::milliseconds(200));
  EXPECT_LT(later, std::chrono::seconds(1));
  world.advance(std::chrono::minutes(1));
  EXPECT_EQ(lags(), std::chrono::seconds(1));
}

TEST(Promote, WaitsForEveryVoter) {
  auto world = formed(3);
  scale(world, 4);
  ASSERT_TRUE(until<PromoteLearner>(world));
  world.end_container("c-1", 137, "");
  world.answer();
  EXPECT_EQ(disruptive_step(world.decide()), nullptr);
  EXPECT_THAT(message_of(world.decide(), "VotersUnhealthy"), HasSubstr("c-1"));
}

TEST(Promote, LabelsAndServesOnlyAVoter) {
  auto world = formed(3);
  scale(world, 4);
  ASSERT_TRUE(until<PromoteLearner>(world));
  EXPECT_FALSE(world.pod("c-3")->voter);
  EXPECT_FALSE(world.pod("c-3")->serving);
  world.settle();
  EXPECT_TRUE(world.pod("c-3")->voter);
  EXPECT_TRUE(world.pod("c-3")->serving);
  EXPECT_EQ(world.record("c-3")->spec.role, api::MemberRole::kVoter);
}

// ---- One less ----

TEST(Shrink, TakesClientsAwayFirst) {
  auto world = formed(3);
  scale(world, 2);
  for (int i = 0; i < 10; ++i) {
    world.run_pods();
    world.answer();
    auto removal = steps_of<RemoveMember>(world.decide());
    if (!removal.empty()) {
      EXPECT_EQ(removal.front().name, "c-2");
      EXPECT_FALSE(world.pod("c-2")->serving);
      world.seen.endpoints->push_back(world.pod("c-2")->ip);
      EXPECT_EQ(disruptive_step(world.decide()), nullptr) << "seen to have left";
      EXPECT_THAT(codes_of(world.decide(), "resize"), ElementsAre("Serving"));
      world.seen.endpoints.reset();
      EXPECT_EQ(disruptive_step(world.decide()), nullptr) << "not known";
      EXPECT_TRUE(world.decide().ask_endpoints);
      return;
    }
    next(world);
  }
  FAIL() << "nobody is removed";
}

TEST(Shrink, ChoosesTheUnhealthyThenTheHighestFollower) {
  auto world = formed(5);
  world.set_leader(Ordinal(4));
  scale(world, 4);
  auto removal = until<RemoveMember>(world);
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->name, "c-3") << "not the leader";

  world = formed(5);
  world.end_container("c-1", 137, "");
  scale(world, 4);
  removal = until<RemoveMember>(world);
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->name, "c-1");
}

TEST(Shrink, DeletesPodThenVolumeThenRecord) {
  auto world = formed(3);
  scale(world, 2);
  world.settle();
  const auto discards = taken<DiscardMember>(world);
  ASSERT_THAT(discards, SizeIs(3));
  EXPECT_THAT(discards[0].pods, SizeIs(1));
  EXPECT_THAT(discards[0].claims, IsEmpty());
  EXPECT_THAT(discards[1].claims, SizeIs(1));
  EXPECT_THAT(discards[1].records, IsEmpty());
  EXPECT_THAT(discards[2].records, SizeIs(1));
}

TEST(Shrink, KeepsTheVolumeIfToldSoAndNeverRunsOnItAgain) {
  api::ClusterSpec spec;
  spec.storage.retention.when_scaled = api::Retention::kRetain;
  auto world = formed(3, spec);
  scale(world, 1);
  world.settle();
  expect_ready(world, 1);
  EXPECT_THAT(world.seen.claims, SizeIs(3));
  for (const char* name : {"data-c-1", "data-c-2"})
    EXPECT_TRUE(world.claim(name)->identity->removed) << name;
  // Even if all else is forgotten, and nobody can be asked.
  world.seen.records.clear();
  world.seen.pods.clear();
  world.lose_status();
  world.silence();
  for (int i = 0; i < 6; ++i) world.pass();
  EXPECT_THAT(world.pod_names(), ElementsAre("c-0"));
  scale(world, 3);
  world.settle();
  expect_ready(world, 3);
  EXPECT_THAT(world.pod_names(), ElementsAre("c-0", "c-3", "c-4"));
}

TEST(Shrink, DeletesNothingOfAMemberThatIsListed) {
  auto world = formed(3);
  scale(world, 2);
  ASSERT_TRUE(until<DiscardMember>(world));
  world.list().push_back(
      {World::member_id(Ordinal(2)), "c-2", {world.record("c-2")->spec.peer_url}, false, true});
  world.answer();
  EXPECT_THAT(steps_of<DiscardMember>(world.decide()), IsEmpty());
}

TEST(Shrink, StopsWhenMembersReadDifferentLists) {
  auto world = formed(3);
  scale(world, 2);
  ASSERT_TRUE(until<RemoveMember>(world));
  world.seen.answers[1].members->pop_back();
  auto decision = world.decide();
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_THAT(codes_of(decision, "settle"), ElementsAre("ListsDiffer"));
}

// A read through the others may have been confirmed by the very member that is to go (E17).
TEST(Shrink, WantsEveryOtherVotersOwnWordAndOneLeader) {
  auto world = formed(3);
  scale(world, 2);
  ASSERT_TRUE(until<RemoveMember>(world));
  auto spoiled = world;
  spoiled.seen.answers[1].members.reset();
  EXPECT_EQ(disruptive_step(spoiled.decide()), nullptr) << "no linearizable read through c-1";
  spoiled = world;
  spoiled.seen.answers[1].leader = World::member_id(Ordinal(2));
  EXPECT_EQ(disruptive_step(spoiled.decide()), nullptr) << "another leader";
  spoiled = world;
  spoiled.seen.answers[1].asked_at -= std::chrono::seconds(1);
  EXPECT_EQ(disruptive_step(spoiled.decide()), nullptr) << "not in this attempt";
  spoiled = world;
  spoiled.seen.answers[0].applied = RaftIndex(100'000);
  EXPECT_EQ(disruptive_step(spoiled.decide()), nullptr) << "c-1 lags";
  EXPECT_NE(disruptive_step(world.decide()), nullptr);
}

TEST(Shrink, KeepsTheBudgetAtAQuorumOfWhatIsThereAndWanted) {
  auto world = formed(5);
  auto budget = [](const Decision& decision) {
    for (const auto& step : steps_of<ApplyShared>(decision))
      if (step.which == Shared::kDisruptionBudget) return step.min_available;
    return 0;
  };
  scale(world, 3);
  EXPECT_EQ(budget(world.decide()), 0) << "five voters: as it was";
  world.settle();
  int least = 0;
  for (const auto& step : taken<ApplyShared>(world))
    if (step.which == Shared::kDisruptionBudget) least = step.min_available;
  EXPECT_EQ(least, 2);
  scale(world, 5);
  EXPECT_EQ(budget(world.decide()), 3) << "raised at once";
}

// ---- Doubt ----

TEST(DoubtOfMembers, FreezesWhenEtcdListsSomebodyUnknown) {
  auto world = formed(3);
  scale(world, 4);
  world.list().push_back({MemberId(0xbad), "x", {"https://elsewhere:2380"}, false, true});
  world.answer();
  for (int i = 0; i < 3; ++i) next(world);
  world.answer();
  auto decision = world.decide();
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_EQ(condition(*decision.status, "Frozen"), "True");
  EXPECT_THAT(message_of(decision, "UnknownMember"), HasSubstr("bad"));
}

TEST(DoubtOfMembers, FreezesWhenAnAlarmSaysThatDataIsCorrupt) {
  auto world = formed(3);
  scale(world, 2);
  ASSERT_TRUE(until<RemoveMember>(world));
  world.seen.answers[1].corrupt = true;
  auto decision = world.decide();
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_THAT(codes_of(decision, "doubt"), ElementsAre("CorruptAlarm"));
}

// ---- The gate by itself ----

// `settle` does not even ask for who is listed; the gate would not let it.
TEST(GateOfMembers, LetsNobodyBeDiscardedWhomEtcdLists) {
  auto world = formed(3);
  auto identity = *world.claim("data-c-2")->identity;
  identity.removed = true;
  world.claim("data-c-2")->identity = world.pod("c-2")->identity = identity;
  world.record("c-2")->spec.identity = identity;
  world.answer();
  const auto ask = [&] {
    const auto now = make_situation(world.seen);
    return QuorumGate::discard_member(now, *now.find(Ordinal(2)));
  };
  ASSERT_FALSE(ask());
  EXPECT_EQ(ask().error().code, "StillListed");
  std::erase_if(world.list(), [](const ListedMember& one) { return one.name == "c-2"; });
  world.answer();
  EXPECT_TRUE(ask());
  world.claim("data-c-2")->identity->removed = false;
  EXPECT_EQ(ask().error().code, "IdentityInDoubt") << "not every witness says so";
}

}  // namespace
}  // namespace quorate::plan

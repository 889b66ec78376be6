#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/world_test.h"

// The rules that keep our hands off, and what status says.
namespace quorate::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(Ownership, LeavesAnotherOperatorsClusterAlone) {
  auto world = formed();
  world.seen.op.identity = "another";
  world.delete_pod("c-0");
  auto decision = world.decide();
  EXPECT_THAT(decision.stages, IsEmpty());
  EXPECT_FALSE(decision.status) << "not even status is ours to write";
  EXPECT_THAT(decision.member_statuses, IsEmpty());
}

TEST(Ownership, ClaimsAClusterBeforeAnythingElse) {
  for (bool with_status : {false, true}) {
    World world;
    world.seen.cluster.status.reset();
    if (with_status) world.seen.cluster.status.emplace();
    auto decision = world.decide();
    EXPECT_THAT(decision.stages, IsEmpty());
    EXPECT_THAT(codes_of(decision, "ownership"), ElementsAre("Claiming"));
    EXPECT_EQ(decision.status->operator_identity, "quorate");
    world.publish(decision);
    EXPECT_THAT(world.decide().stages, Not(IsEmpty()));
    EXPECT_THAT(codes_of(world.decide(), "ownership"), IsEmpty());
  }
}

TEST(Ownership, SaysNothingOnRecordsOfAClusterThatIsNotItsYet) {
  auto world = formed();
  world.seen.cluster.status.reset();
  for (auto& record : world.seen.records) record.status = {};
  EXPECT_THAT(world.decide().member_statuses, IsEmpty());
  world.settle();
  EXPECT_TRUE(world.record("c-0")->status.ready);
}

TEST(Ownership, DoesNotClaimWhatIsBeingDeleted) {
  World world;
  world.seen.cluster.status.reset();
  world.seen.cluster.deleting = true;
  EXPECT_THAT(codes_of(world.decide(), "ownership"), IsEmpty());
}

TEST(Teardown, ActsNoMore) {
  auto world = formed();
  world.seen.cluster.deleting = true;
  world.delete_pod("c-0");
  auto decision = world.decide();
  EXPECT_THAT(decision.stages, IsEmpty());
  EXPECT_EQ(decision.status->phase, "Being deleted");
}

// Every object that goes with the namespace wakes us, and each would be asked for again.
TEST(Teardown, LeavesANamespaceAloneThatIsGoingAway) {
  auto world = formed();
  world.delete_pod("c-0");
  ASSERT_THAT(world.decide().stages, Not(IsEmpty()));
  world.seen.namespace_going_at = world.seen.now.monotonic;
  const auto decision = world.decide();
  EXPECT_THAT(decision.stages, IsEmpty());
  EXPECT_THAT(codes_of(decision, "teardown"), ElementsAre("NamespaceTerminating"));
  EXPECT_THAT(decision.status->phase, HasSubstr("namespace n is being deleted"));
  world.advance(std::chrono::seconds(59));
  EXPECT_THAT(world.decide().stages, IsEmpty());
  world.advance(std::chrono::seconds(1));
  EXPECT_THAT(world.decide().stages, Not(IsEmpty())) << "the server is asked again";
}

TEST(Teardown, StopsAFormationAtAnyPoint) {
  for (int passes = 0; passes < 5; ++passes) {
    World world;
    for (int i = 0; i < passes; ++i) world.pass();
    world.seen.cluster.deleting = true;
    EXPECT_THAT(world.decide().stages, IsEmpty()) << passes;
  }
}

TEST(Pause, ObservesAndReportsOnly) {
  auto world = formed();
  world.edit([](api::ClusterSpec& spec) { spec.paused = true; });
  world.delete_pod("c-0");
  world.answer();
  auto decision = world.decide();
  EXPECT_THAT(decision.stages, IsEmpty());
  EXPECT_EQ(decision.status->phase, "Paused");
  EXPECT_EQ(decision.status->ready, "2/3") << "it still looks";
  EXPECT_EQ(decision.status->observed_generation, 1);
  world.publish(decision);
  world.advance(std::chrono::hours(24));
  world.answer();
  auto later = world.decide();
  for (const auto& entry : later.status->waiting)
    EXPECT_FALSE(entry.deadline) << "a person's wish is not late";
}

TEST(Pause, WorksOnASpecThatIsOtherwiseInvalid) {
  auto world = formed();
  world.edit([](api::ClusterSpec& spec) {
    spec.paused = true;
    spec.replicas = 99;
  });
  world.delete_pod("c-0");
  EXPECT_THAT(world.decide().stages, IsEmpty());
}

TEST(Discouraged, SaysWhatHasItsPriceAndIsNotThereOtherwise) {
  auto world = formed(3);
  EXPECT_EQ(world.decide().status->find_condition("Discouraged"), nullptr);
  auto small = formed(2);
  const auto decision = small.decide();
  const auto* told = decision.status->find_condition("Discouraged");
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->status, api::ConditionStatus::kTrue);
  EXPECT_THAT(told->message, HasSubstr("2 members tolerate no more failures than 1"));
  EXPECT_THAT(told->message, HasSubstr("blocks drains"));
  EXPECT_EQ(condition(*decision.status, "Ready"), "True") << "it is as declared";
  EXPECT_THAT(decision.status->waiting, IsEmpty());
}

TEST(ProgressDeadline, IsTheOneThatIsDeclared) {
  World world;
  world.edit(
      [](api::ClusterSpec& spec) { spec.progress_deadline = api::Span(std::chrono::minutes(3)); });
  for (int i = 0; i < 4 && world.seen.pods.empty(); ++i) world.pass();
  world.pod("c-0")->unschedulable = "no node";
  world.pass();
  world.advance(std::chrono::minutes(2));
  world.pass();
  EXPECT_EQ(condition(world.status(), "Degraded"), "False");
  world.advance(std::chrono::minutes(2));
  world.pass();
  EXPECT_EQ(condition(world.status(), "Degraded"), "True");
  EXPECT_THAT(world.status().find_condition("Degraded")->message, HasSubstr("no node"));
}

TEST(Validity, GoesOnWithTheLastGoodSpec) {
  auto world = formed();
  world.edit([](api::ClusterSpec& spec) { spec.replicas = 99; });
  world.delete_pod("c-0");
  auto decision = world.decide();
  EXPECT_EQ(message_of(decision, "InvalidSpec"), "spec.replicas: 99 must be between 0 and 9");
  EXPECT_THAT(steps_of<CreatePod>(decision), SizeIs(1)) << "healing does not wait for a good spec";
  EXPECT_EQ(decision.status->target->replicas, 3);
  EXPECT_EQ(decision.status->observed_generation, 1);
  world.edit([](api::ClusterSpec& spec) { spec.replicas = 3; });
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << "a correction needs no clean-up";
  EXPECT_EQ(world.status().observed_generation, 3);
}

TEST(Validity, DoesNothingWithoutAGoodSpec) {
  World world;
  world.seen.cluster.declared.reset();
  world.seen.cluster.undecodable = "spec.replica: there is no such field";
  auto decision = world.decide();
  EXPECT_THAT(decision.stages, IsEmpty());
  EXPECT_EQ(message_of(decision, "InvalidSpec"), "spec: spec.replica: there is no such field");
  World badly_named;
  badly_named.seen.cluster.key.name = "9-lives";
  EXPECT_THAT(badly_named.decide().stages, IsEmpty());
  EXPECT_THAT(message_of(badly_named.decide(), "InvalidSpec"), HasSubstr("metadata.name"));
}

TEST(Validity, RefusesEditsOfAFormedClusterAlsoWhenStatusIsLost) {
  auto world = formed();
  world.edit([](api::ClusterSpec& spec) {
    spec.replicas = 5;
    spec.version = api::EtcdVersion{3, 7, 3};
    spec.tls.peer.mode = api::TlsMode::kDisabled;
  });
  world.lose_status();
  auto text = message_of(world.decide(), "InvalidSpec");
  EXPECT_THAT(text, HasSubstr("spec.version"));
  EXPECT_THAT(text, HasSubstr("spec.tls.peer.mode"));
  EXPECT_THAT(world.decide().stages, IsEmpty());
}

// Status may come from a backup of when the cluster was smaller, or slept.
TEST(Validity, RemovesNobodyOnTheWordOfStatusAlone) {
  for (const int remembered : {0, 1}) {
    auto world = formed();
    world.edit([](api::ClusterSpec& spec) { spec.version = api::EtcdVersion{9, 9, 9}; });
    world.seen.cluster.status->target->replicas = remembered;
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(disruptive_step(world.decide()), nullptr) << remembered;
      next(world);
    }
    EXPECT_EQ(world.status().target->replicas, 3);
  }
}

TEST(Validity, GoesOnToShrinkIfTheDeclarationSaysTheSameNumber) {
  auto world = formed();
  world.edit([](api::ClusterSpec& spec) { spec.replicas = 1; });
  next(world);
  world.edit([](api::ClusterSpec& spec) { spec.version = api::EtcdVersion{9, 9, 9}; });
  world.settle();
  EXPECT_EQ(world.voters().size(), 1u);
}

TEST(Doubt, FreezesWhenWitnessesContradictEachOther) {
  auto world = formed();
  world.claim("data-c-1")->identity->cluster_id = ClusterId(0xbeef);
  world.delete_pod("c-0");
  auto decision = world.decide();
  EXPECT_THAT(codes_of(decision, "doubt"), ElementsAre("IdentityInDoubt"));
  EXPECT_THAT(steps_of<CreatePod>(decision), IsEmpty());
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_EQ(condition(*decision.status, "Frozen"), "True");
}

TEST(Doubt, KeepsClientsAwayFromAMemberThatAnswersAsAnother) {
  auto world = formed();
  world.answer();
  world.seen.answers[1].cluster_id = ClusterId(0xbeef);
  auto steps = steps_of<SetServing>(world.decide());
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].pod, "c-1");
  EXPECT_FALSE(steps[0].serving);
}

TEST(Doubt, FreezesWhenAnObjectCannotBeRead) {
  auto world = formed();
  world.delete_record("c-1");
  world.delete_pod("c-0");
  world.seen.unreadable = {"EtcdMember c-1 cannot be read: spec.ordinal: must be given"};
  auto decision = world.decide();
  EXPECT_THAT(message_of(decision, "IdentityInDoubt"), HasSubstr("EtcdMember c-1 cannot be read"));
  EXPECT_THAT(decision.stages, IsEmpty()) << "what is not shown may be there";
  EXPECT_EQ(condition(*decision.status, "Frozen"), "True");
}

TEST(Doubt, FreezesWhenAFormationCannotBe) {
  auto world = formed();
  world.record("c-0")->spec.identity.formation.size = 1'000'000;
  EXPECT_THAT(codes_of(world.decide(), "doubt"), SizeIs(1));
}

TEST(QuorumLoss, IsToldAndNothingIsTouched) {
  auto world = formed();
  world.answer();
  world.seen.answers.resize(1);
  auto decision = world.decide();
  EXPECT_THAT(codes_of(decision, "quorum loss"), ElementsAre("NoQuorum"));
  EXPECT_EQ(disruptive_step(decision), nullptr);
  EXPECT_EQ(condition(*decision.status, "Available"), "False");
  EXPECT_EQ(condition(*decision.status, "Degraded"), "True");
}

// ---- Status ----

TEST(Status, SaysAvailableOnlyAfterAQuorumConfirmedARead) {
  auto world = formed();
  EXPECT_EQ(condition(world.status(), "Available"), "True");
  for (auto& answer : world.seen.answers) {
    answer.members.reset();
    answer.keys.reset();
  }
  EXPECT_EQ(condition(*world.decide().status, "Available"), "True") << "the kubelet's probe did";
  for (auto& pod : world.seen.pods) pod.ready = false;
  EXPECT_EQ(condition(*world.decide().status, "Available"), "False");
  world.answer();
  world.seen.answers.resize(1);
  EXPECT_EQ(condition(*world.decide().status, "Available"), "False");
  EXPECT_EQ(world.decide().status->ready, "1/3");
}

TEST(Status, ForgetsWhatAMemberSaidBeforeItEnded) {
  auto world = formed();
  world.end_container("c-1", 137, "");
  auto decision = world.decide();
  EXPECT_EQ(decision.status->ready, "2/3");
  EXPECT_EQ(decision.status->find_condition("Available")->message, "2 of 3 voters answer");
  world.end_container("c-2", 137, "");
  decision = world.decide();
  EXPECT_EQ(condition(*decision.status, "Available"), "False");
  EXPECT_THAT(codes_of(decision, "quorum loss"), ElementsAre("NoQuorum"));
}

TEST(Status, BelievesAnswersAsLongAsTheNextOnesTake) {
  auto world = formed();
  world.seen.op.answers_good_for = std::chrono::minutes(10);  // a large fleet is asked less often
  world.advance(std::chrono::minutes(5));
  EXPECT_EQ(condition(*world.decide().status, "Ready"), "True");
  world.advance(std::chrono::minutes(6));
  EXPECT_EQ(condition(*world.decide().status, "Ready"), "False");
}

TEST(Status, ForgetsAnswersThatAreOld) {
  auto world = formed();
  world.advance(std::chrono::seconds(59));
  EXPECT_EQ(condition(*world.decide().status, "Available"), "True");
  world.advance(std::chrono::seconds(2));
  EXPECT_EQ(condition(*world.decide().status, "Available"), "False");
}

TEST(Status, KeepsSinceAndSaysWhenItIsLate) {
  World world;
  for (int i = 0; i < 4 && world.seen.pods.empty(); ++i) world.pass();
  world.pod("c-0")->unschedulable = "no node";
  world.pass();
  auto first = world.status();
  EXPECT_EQ(condition(first, "Progressing"), "True");
  EXPECT_EQ(condition(first, "Degraded"), "False");
  world.advance(std::chrono::minutes(11));
  world.pass();
  EXPECT_EQ(condition(world.status(), "Degraded"), "True");
  auto since = [](const api::ClusterStatus& status) {
    for (const auto& entry : status.waiting)
      if (entry.reason == "Unschedulable") return entry.since;
    return WallTime();
  };
  EXPECT_EQ(since(first), since(world.status()));
  EXPECT_THAT(world.status().find_condition("Degraded")->message,
              HasSubstr("longer than expected"));
}

TEST(Status, MovesTransitionTimesOnlyWithTheStatus) {
  auto world = formed();
  auto before = world.status();
  world.advance(std::chrono::hours(1));
  world.answer();
  auto after = *world.decide().status;
  EXPECT_EQ(after, before) << "an hour later there is nothing to write";
}

TEST(Status, SaysWhoseTheClusterIs) { EXPECT_EQ(formed().status().operator_identity, "quorate"); }

TEST(Status, ShowsCertificatesThatExpire) {
  auto world = formed();
  world.shared(Shared::kPeerTls)->certificate->not_after = world.seen.now.wall;
  EXPECT_EQ(condition(*world.decide().status, "CertificatesValid"), "False");
}

TEST(MemberStatus, IsWrittenOnceItServes) {
  auto world = formed();
  EXPECT_TRUE(world.record("c-0")->status.ready);
  EXPECT_EQ(world.record("c-0")->status.version, "3.6.16");
  EXPECT_EQ(world.record("c-0")->status.pod_uid, world.pod("c-0")->uid);
  world.delete_pod("c-0");
  auto updates = world.decide().member_statuses;
  ASSERT_THAT(updates, SizeIs(1));
  EXPECT_FALSE(updates[0].status.ready);
}

TEST(Decide, TakesItsRuleTable) {
  World world;
  const Rule only_pause[] = {{"x", [](const Situation&) { return Finding{}; }}};
  auto decision = decide(world.seen, only_pause);
  EXPECT_THAT(decision.stages, IsEmpty());
  EXPECT_THAT(decision.rulings, SizeIs(1));
  EXPECT_THAT(rules(), SizeIs(17));
}

}  // namespace
}  // namespace quorate::plan

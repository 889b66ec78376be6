#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/names.h"
#include "plan/gate.h"
#include "plan/pods.h"
#include "plan/world_test.h"

// Members that are not as declared: roll and revive, and resize where data goes with the Pod.
namespace quorate::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

World formed_of(int replicas, api::ClusterSpec spec = {}) {
  spec.version = api::EtcdVersion{3, 6, 15};
  return formed(replicas, std::move(spec));
}

void more_memory(World& world) {
  world.edit([](api::ClusterSpec& spec) {
    spec.resources.requests.memory = *api::Quantity::parse("256Mi");
  });
}

void upgrade(World& world, int patch) {
  world.edit([&](api::ClusterSpec& spec) { spec.version = api::EtcdVersion{3, 6, patch}; });
}

Decision look(World& world) {
  world.run_pods();
  world.answer();
  return world.decide();
}

// The names of Pods that were restarted, in order.
std::vector<std::string> restarted(const World& world) {
  std::vector<std::string> out;
  for (const auto& step : world.history()) {
    if (const auto* one = std::get_if<RestartMember>(&step)) out.push_back(one->pod.name);
    if (const auto* one = std::get_if<ReimageMember>(&step)) out.push_back(one->pod.name);
  }
  return out;
}

std::string waits(const api::ClusterStatus& status) {
  std::string out;
  for (const auto& entry : status.waiting)
    out += "\n" + entry.rule + " " + entry.verdict + " " + entry.reason + ": " + entry.message;
  return out;
}

void expect_as_declared(World& world, int replicas) {
  EXPECT_EQ(condition(world.status(), "Ready"), "True")
      << world.status().phase << waits(world.status());
  EXPECT_THAT(world.voters(), SizeIs(static_cast<std::size_t>(replicas)));
  EXPECT_THAT(world.seen.pods, SizeIs(static_cast<std::size_t>(replicas)));
  EXPECT_EQ(world.status().observed_generation, world.seen.cluster.generation);
  const auto now = make_situation(world.seen);
  for (const auto* member : now.current())
    EXPECT_EQ(compare(now, *member), Difference::kNone) << member->name;
  EXPECT_THAT(world.decide().stages, IsEmpty());
}

// ---- The whole way ----

// `quorate restart`: nothing else has changed, and each member is restarted once.
TEST(Roll, RestartsEveryMemberOnceWhenThatIsAskedForAndNobodyForOtherMetadata) {
  auto world = formed_of(3);
  world.edit([](api::ClusterSpec& spec) { spec.pod_template.metadata.annotations.set("a", "b"); });
  world.settle();
  EXPECT_THAT(restarted(world), IsEmpty());
  world.edit([](api::ClusterSpec& spec) {
    spec.pod_template.metadata.annotations.set(api::kAnnotationRestartedAt, "2026-05-01T12:00:00Z");
  });
  world.settle();
  EXPECT_THAT(restarted(world), SizeIs(3));
  expect_as_declared(world, 3);
}

TEST(Roll, MakesPodsAnewOneAfterTheOtherAndTheLeaderLast) {
  auto world = formed_of(3);
  world.set_leader(Ordinal(1));
  more_memory(world);
  world.settle();
  EXPECT_THAT(restarted(world), ElementsAre("c-0", "c-2", "c-1"));
  EXPECT_EQ(count<MoveLeader>(world), 1);
  EXPECT_EQ(count<ReimageMember>(world), 0);
  EXPECT_EQ(count<CreateClaim>(world), 3) << "volumes stay";
  EXPECT_EQ(count<RemoveMember>(world), 0);
  expect_as_declared(world, 3);
}

TEST(Roll, GivesAnotherPatchVersionInPlace) {
  auto world = formed_of(3);
  const auto uid = world.pod("c-0")->uid;
  upgrade(world, 16);
  world.settle();
  EXPECT_THAT(restarted(world), ElementsAre("c-1", "c-2", "c-0"));
  EXPECT_EQ(count<RestartMember>(world), 0);
  EXPECT_EQ(world.pod("c-0")->uid, uid);
  for (const auto& record : world.seen.records) EXPECT_EQ(record.spec.version.text(), "3.6.16");
  EXPECT_EQ(world.status().version.current->text(), "3.6.16");
  expect_as_declared(world, 3);
}

TEST(Roll, GoesBackToAnOlderPatchVersionInMidRoll) {
  auto world = formed_of(3);
  upgrade(world, 16);
  while (restarted(world).empty()) next(world);
  upgrade(world, 15);
  world.settle();
  EXPECT_THAT(restarted(world), ElementsAre("c-1", "c-1"));
  expect_as_declared(world, 3);
}

// From 3.5.10 to 3.5.11 the path of the readiness probe changes, which is fixed in a Pod.
TEST(Roll, MakesPodsAnewWhereAVersionNeedsOtherProbes) {
  api::ClusterSpec spec;
  spec.version = api::EtcdVersion{3, 5, 10};
  ASSERT_NE(api::readiness_path(*spec.version), api::readiness_path({3, 5, 11}));
  World world(spec);
  world.settle();
  const auto now = make_situation(world.seen);
  ASSERT_TRUE(now.target) << api::text(now.problems);
  world.edit([](api::ClusterSpec& next) { next.version = api::EtcdVersion{3, 5, 11}; });
  world.settle();
  EXPECT_EQ(count<ReimageMember>(world), 0);
  EXPECT_EQ(count<RestartMember>(world), 3);
  expect_as_declared(world, 3);
}

TEST(Roll, RefusesAnotherMinorVersion) {
  auto world = formed_of(3);
  world.edit([](api::ClusterSpec& spec) { spec.version = api::EtcdVersion{3, 7, 3}; });
  world.settle();
  EXPECT_THAT(restarted(world), IsEmpty());
  EXPECT_THAT(message_of(world.decide(), "InvalidSpec"), HasSubstr("3.6.x"));
}

TEST(Roll, WorksAtEverySize) {
  for (int size : {1, 2, 3, 4, 5, 7}) {
    auto world = formed_of(size);
    more_memory(world);
    world.settle();
    EXPECT_EQ(count<RestartMember>(world), size) << size;
    expect_as_declared(world, size);
  }
}

TEST(Roll, AnotherBuildOfTheOperatorRestartsNobody) {
  auto world = formed_of(3);
  world.seen.op.launch_image = "quorate:0.2.0";
  EXPECT_THAT(look(world).stages, IsEmpty());
}

// ---- Never two at once ----

TEST(Roll, WaitsUntilTheOneBeforeIsBack) {
  auto world = formed_of(5);
  more_memory(world);
  while (restarted(world).empty()) next(world);
  const auto first = restarted(world).front();
  next(world);  // its Pod is made
  auto* pod = world.pod(first);
  ASSERT_NE(pod, nullptr);
  pod->etcd.waiting = "ContainerCreating";
  for (int i = 0; i < 10; ++i) {
    const auto decision = next(world);
    EXPECT_THAT(steps_of<RestartMember>(decision), IsEmpty());
    EXPECT_THAT(message_of(decision, "VotersUnhealthy"), HasSubstr(first));
  }
  world.pod(first)->etcd.waiting.reset();
  world.settle();
  expect_as_declared(world, 5);
}

TEST(Roll, WaitsUntilAnotherImageRuns) {
  auto world = formed_of(3);
  upgrade(world, 16);
  auto decision = look(world);
  auto found = steps_of<ReimageMember>(decision);
  ASSERT_THAT(found, SizeIs(1));
  world.carry_out(decision);
  world.publish(decision);
  world.advance(std::chrono::seconds(1));
  // The kubelet has not looked yet: the old etcd still answers, and everything seems well.
  world.answer();
  decision = world.decide();
  EXPECT_THAT(steps_of<ReimageMember>(decision), IsEmpty());
  EXPECT_THAT(message_of(decision, "VotersUnhealthy"), HasSubstr(found[0].pod.name));
  const auto now = make_situation(world.seen);
  for (const auto* member : now.current())
    if (member->name != found[0].pod.name) {
      EXPECT_FALSE(QuorumGate::remove_member(now, *member)) << "nor is anybody removed meanwhile";
    }
  world.settle();
  expect_as_declared(world, 3);
}

// Its node is gone, say: nothing of ours brings it back.
TEST(Roll, RestartsNobodyWhileAVoterIsMissing) {
  auto world = formed_of(5);
  more_memory(world);
  world.pod("c-4")->deleting = true;
  world.pod("c-4")->deleting_since = world.seen.now.wall;
  world.pod("c-4")->etcd.running = world.pod("c-4")->ready = false;
  for (int i = 0; i < 5; ++i) {
    const auto decision = next(world);
    EXPECT_EQ(disruptive_step(decision), nullptr);
    EXPECT_THAT(message_of(decision, "VotersUnhealthy"), HasSubstr("c-4"));
  }
}

TEST(Roll, MovesNoLeadershipWhereThereIsNobodyElse) {
  auto world = formed_of(1);
  more_memory(world);
  world.settle();
  EXPECT_EQ(count<MoveLeader>(world), 0);
  expect_as_declared(world, 1);
}

TEST(Roll, LetsMembersComeAndGoFirst) {
  auto world = formed_of(3);
  world.edit([](api::ClusterSpec& spec) {
    spec.replicas = 5;
    spec.resources.requests.memory = *api::Quantity::parse("256Mi");
  });
  while (world.voters().size() < 5) {
    const auto decision = next(world);
    EXPECT_THAT(steps_of<RestartMember>(decision), IsEmpty());
  }
  world.settle();
  EXPECT_EQ(count<RestartMember>(world), 3) << "the new ones are as declared";
  expect_as_declared(world, 5);
}

TEST(Roll, DoesNothingWhilePausedOrHibernating) {
  auto world = formed_of(3);
  world.edit([](api::ClusterSpec& spec) {
    spec.paused = true;
    spec.resources.requests.memory = *api::Quantity::parse("256Mi");
  });
  EXPECT_THAT(look(world).stages, IsEmpty());
  world.edit([](api::ClusterSpec& spec) {
    spec.paused = false;
    spec.replicas = 0;
  });
  world.settle();
  EXPECT_THAT(restarted(world), IsEmpty());
  world.edit([](api::ClusterSpec& spec) { spec.replicas = 3; });
  world.settle();
  EXPECT_THAT(restarted(world), IsEmpty()) << "they woke up as declared";
  expect_as_declared(world, 3);
}

// ---- Declarations that members cannot run with ----

void hold_back(World& world, const std::string& name, const std::string& reason) {
  auto* pod = world.pod(name);
  ASSERT_NE(pod, nullptr);
  pod->etcd = {.waiting = reason};
  pod->ready = false;
}

TEST(Revive, StopsAtTheFirstAndGoesOnWhenTheDeclarationIsCorrected) {
  auto world = formed_of(3);
  more_memory(world);
  while (restarted(world).empty()) next(world);
  const auto first = restarted(world).front();
  while (!world.pod(first)) {
    auto decision = world.decide();
    world.carry_out(decision);
    world.publish(decision);
  }
  hold_back(world, first, "ImagePullBackOff");
  for (int i = 0; i < 5; ++i) next(world);
  EXPECT_THAT(restarted(world), SizeIs(1));
  world.edit([](api::ClusterSpec& spec) {
    spec.resources.requests.memory = *api::Quantity::parse("512Mi");
  });
  world.settle();
  EXPECT_EQ(restarted(world)[1], first) << "the one that does not run is first";
  EXPECT_THAT(restarted(world), SizeIs(4));
  expect_as_declared(world, 3);
}

TEST(Revive, BringsBackAQuorumThatTheOldDeclarationKeepsDown) {
  auto world = formed_of(3);
  for (const char* name : {"c-1", "c-2"}) {
    world.end_container(name, 137, "");
    world.pod(name)->etcd.last->reason = "OOMKilled";
  }
  world.silence();
  const auto before = world.decide();
  EXPECT_THAT(steps_of<RestartMember>(before), IsEmpty()) << "as declared: nothing would change";
  more_memory(world);
  auto decision = world.decide();
  ASSERT_THAT(steps_of<RestartMember>(decision), SizeIs(1));
  EXPECT_THAT(codes_of(decision, "quorum loss"), ElementsAre("NoQuorum"));
  world.settle();
  expect_as_declared(world, 3);
}

TEST(Revive, TouchesNoMemberThatMayRun) {
  auto world = formed_of(3);
  world.silence();
  more_memory(world);
  EXPECT_THAT(steps_of<RestartMember>(world.decide()), IsEmpty());
}

TEST(Revive, GivesThePodAnotherImageWhereNothingElseDiffers) {
  auto world = formed_of(3);
  upgrade(world, 16);
  while (restarted(world).empty()) next(world);
  const auto first = restarted(world).front();
  hold_back(world, first, "ErrImagePull");
  const auto uid = world.pod(first)->uid;
  upgrade(world, 15);
  auto decision = world.decide();
  ASSERT_THAT(steps_of<ReimageMember>(decision), SizeIs(1));
  EXPECT_EQ(steps_of<ReimageMember>(decision)[0].pod.uid, uid);
  world.settle();
  expect_as_declared(world, 3);
}

// ---- Where data goes with the Pod ----

TEST(Roll, ReplacesMembersWhoseDataGoesWithTheirPods) {
  for (int size : {1, 2, 3, 5}) {
    auto world = formed_of(size, pod_bound());
    more_memory(world);
    for (int i = 0; i < 400 && condition(world.status(), "Ready") != "True"; ++i) next(world);
    std::size_t least = 100;
    for (int i = 0; i < 600; ++i) {
      if (next(world).stages.empty() && world.status().waiting.empty()) break;
      least = std::min(least, world.voters().size());
    }
    EXPECT_GE(least, static_cast<std::size_t>(size)) << "the new one comes before the old one goes";
    EXPECT_EQ(count<RestartMember>(world), 0);
    EXPECT_EQ(count<RemoveMember>(world), size);
    EXPECT_EQ(count<AddLearner>(world), size) << "nobody is replaced twice";
    expect_as_declared(world, size);
  }
}

// One more than declared votes until the old one is removed.
TEST(Roll, RaisesTheBudgetBeforeOneMoreThanDeclaredVotes) {
  auto world = formed_of(3, pod_bound());
  more_memory(world);
  int kept = 0;
  bool promoted = false;
  for (int i = 0; i < 400 && !promoted; ++i) {
    const auto decision = next(world);
    for (const auto& step : steps_of<ApplyShared>(decision))
      if (step.which == Shared::kDisruptionBudget) kept = step.min_available;
    promoted = !steps_of<PromoteLearner>(decision).empty();
  }
  ASSERT_TRUE(promoted);
  EXPECT_EQ(kept, 3);
}

TEST(Roll, GivesPodBoundMembersAnotherPatchVersionInPlace) {
  auto world = formed_of(3, pod_bound());
  upgrade(world, 16);
  world.settle();
  EXPECT_EQ(count<ReimageMember>(world), 3);
  EXPECT_EQ(count<RemoveMember>(world), 0);
  expect_as_declared(world, 3);
}

TEST(Roll, RemovesAPodBoundMemberThatDoesNotRunAndCannotBeChanged) {
  auto world = formed_of(3, pod_bound());
  world.end_container("c-2", 137, "");
  next(world);
  EXPECT_EQ(count<RemoveMember>(world), 0) << "it may come back by itself";
  more_memory(world);
  for (int i = 0; i < 300; ++i)
    if (next(world).stages.empty() && world.status().waiting.empty()) break;
  EXPECT_THAT(world.voters(), Not(Contains("c-2")));
  expect_as_declared(world, 3);
}

// ---- The gate by itself ----

TEST(GateOfRestarts, DemandsThatEveryOtherVoterServes) {
  auto world = formed_of(5);
  more_memory(world);
  look(world);
  auto ask = [&](const char* name) {
    const auto now = make_situation(world.seen);
    for (const auto& member : now.members)
      if (member.name == name) return QuorumGate::restart_member(now, member, false);
    return QuorumGate::Answer(tl::unexpected(Reason{"none", ""}));
  };
  ASSERT_TRUE(ask("c-3"));
  EXPECT_EQ(ask("c-3")->disruption(), Disruption::kRestartMember);
  EXPECT_EQ(ask("c-0").error().code, "Leads");
  world.pod("c-1")->serving = false;
  EXPECT_EQ(ask("c-3").error().code, "VotersUnhealthy");
  world.pod("c-1")->serving = true;
  world.pod("c-1")->ready = false;
  EXPECT_EQ(ask("c-3").error().code, "VotersUnhealthy");
  world.pod("c-1")->ready = true;
  world.pod("c-1")->deleting = true;
  EXPECT_EQ(ask("c-3").error().code, "VotersUnhealthy");
  world.pod("c-1")->deleting = false;
  world.claim("data-c-3")->deleting = true;
  EXPECT_EQ(ask("c-3").error().code, "VolumeLeaving");
  world.claim("data-c-3")->deleting = false;
  // Asked in an attempt before this one.
  world.advance(std::chrono::seconds(1));
  EXPECT_EQ(ask("c-3").error().code, "AskingMembers");
}

TEST(GateOfRestarts, RefusesToMakeAPodAnewThatHoldsTheData) {
  auto world = formed_of(3, pod_bound());
  look(world);
  const auto now = make_situation(world.seen);
  EXPECT_EQ(QuorumGate::restart_member(now, now.members[2], false).error().code, "PodBoundData");
  EXPECT_TRUE(QuorumGate::restart_member(now, now.members[2], true));
  EXPECT_EQ(QuorumGate::restart_stuck_member(now, now.members[2], true).error().code, "Runs");
}

}  // namespace
}  // namespace quorate::plan

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/metadata.h"
#include "api/names.h"
#include "plan/shared.h"
#include "plan/world_test.h"

namespace quorate::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// ---- What is shared ----

TEST(EnsureShared, MakesAuthoritiesBeforeWhatTheyIssue) {
  World world;
  auto decision = world.decide();
  EXPECT_THAT(steps_of<CreateAuthority>(decision), SizeIs(2));
  EXPECT_THAT(steps_of<IssueLeaf>(decision), SizeIs(4));
  EXPECT_THAT(steps_of<ApplyShared>(decision), SizeIs(3));
  world.pass();
  EXPECT_THAT(world.seen.shared, SizeIs(9));
}

TEST(EnsureShared, LeavesOutWhatAPlainClusterDoesNotNeed) {
  api::ClusterSpec spec;
  spec.tls.client.mode = api::TlsMode::kDisabled;
  World world(spec);
  world.pass();
  EXPECT_EQ(world.shared(Shared::kServerTls), nullptr);
  EXPECT_NE(world.shared(Shared::kPeerTls), nullptr);
}

TEST(EnsureShared, FormsEvenIfTheBudgetIsRefused) {
  World world;
  world.refuses = [](const Step& step) {
    const auto* apply = std::get_if<ApplyShared>(&step);
    return apply && apply->which == Shared::kDisruptionBudget;
  };
  for (int i = 0; i < 8; ++i) {
    world.run_pods();
    world.answer();
    world.pass();
  }
  EXPECT_EQ(world.status().cluster_id, World::kClusterId);
}

TEST(EnsureShared, KeepsAQuorumAvailable) {
  for (auto [size, least] : {std::pair{1, 1}, {2, 2}, {3, 2}, {4, 3}, {5, 3}, {9, 5}}) {
    api::ClusterSpec spec;
    spec.replicas = size;
    int seen = 0;
    for (const auto& step : steps_of<ApplyShared>(World(spec).decide()))
      if (step.which == Shared::kDisruptionBudget) seen = step.min_available;
    EXPECT_EQ(seen, least) << size;
  }
}

TEST(EnsureShared, TakesTheBudgetAwayWhereNobodyWantsIt) {
  auto world = formed();
  world.edit([](api::ClusterSpec& spec) { spec.disruption_budget.enabled = false; });
  EXPECT_THAT(steps_of<RemoveBudget>(world.decide()),
              ElementsAre(RemoveBudget{world.shared(Shared::kDisruptionBudget)->uid}));
  world.settle();
  EXPECT_EQ(world.shared(Shared::kDisruptionBudget), nullptr);
  world.edit([](api::ClusterSpec& spec) { spec.disruption_budget.enabled = true; });
  world.settle();
  EXPECT_NE(world.shared(Shared::kDisruptionBudget), nullptr);
}

TEST(EnsureShared, LeavesABudgetOfSomebodyElseAlone) {
  api::ClusterSpec spec;
  spec.disruption_budget.enabled = false;
  auto world = formed(spec);
  world.seen.shared.push_back({.which = Shared::kDisruptionBudget, .uid = Uid("theirs")});
  EXPECT_THAT(steps_of<RemoveBudget>(world.decide()), IsEmpty());
}

TEST(EnsureShared, ChangesServicesAsTheyAreDeclared) {
  auto world = formed();
  world.edit(
      [](api::ClusterSpec& spec) { spec.services.client.spec.type = api::ServiceType::kNodePort; });
  auto steps = steps_of<ApplyShared>(world.decide());
  ASSERT_THAT(steps, SizeIs(2)) << "both Services, in one fingerprint";
  EXPECT_EQ(steps[0].services.client.spec.type, api::ServiceType::kNodePort);
}

// ---- What people want to find on objects ----

TEST(EnsureMetadata, IsWrittenOnEverythingThatIsThere) {
  auto world = formed();
  const api::MetadataSpec wanted{{{"team", "a"}}, {}};
  world.edit([&](api::ClusterSpec& spec) { spec.additional_metadata = wanted; });
  auto decision = world.decide();
  EXPECT_THAT(steps_of<SetMetadata>(decision), SizeIs(9 + 6)) << "members' objects, and Secrets";
  EXPECT_THAT(steps_of<ApplyShared>(decision), SizeIs(3));
  for (const auto& step : steps_of<SetMetadata>(decision)) EXPECT_EQ(step.metadata, wanted);
  EXPECT_EQ(disruptive_step(decision), nullptr) << "no Pod is touched for a label";
  world.settle();
  EXPECT_EQ(world.pod("c-0")->added, api::added_text(wanted));
}

TEST(EnsureMetadata, IsTakenAwayAgain) {
  api::ClusterSpec spec;
  spec.pod_template.metadata = {{{"team", "a"}}, {}};
  auto world = formed(spec);
  const auto before = world.pod("c-0")->added;
  world.edit([](api::ClusterSpec& edited) { edited.pod_template = {}; });
  auto steps = steps_of<SetMetadata>(world.decide());
  ASSERT_THAT(steps, SizeIs(3));
  EXPECT_EQ(steps[0].kind, Marked::kPod);
  EXPECT_EQ(steps[0].before, before);
  EXPECT_TRUE(steps[0].metadata.empty());
  world.settle();
  EXPECT_EQ(world.pod("c-0")->added, "");
}

TEST(EnsureShared, RestoresWhatSomebodyChanged) {
  auto world = formed();
  world.shared(Shared::kClientService)->drifted = true;
  auto steps = steps_of<ApplyShared>(world.decide());
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].which, Shared::kClientService);
}

TEST(EnsureShared, DoesNotMakeALostAuthorityAnew) {
  auto world = formed();
  std::erase_if(world.seen.shared,
                [](const SharedFacts& one) { return one.which == Shared::kPeerCa; });
  auto decision = world.decide();
  EXPECT_THAT(steps_of<CreateAuthority>(decision), IsEmpty());
  EXPECT_THAT(steps_of<IssueLeaf>(decision), IsEmpty());
  EXPECT_THAT(message_of(decision, "AuthorityLost"), HasSubstr("Secret c-peer-ca is gone"));
  EXPECT_EQ(condition(*decision.status, "Degraded"), "True");
}

TEST(EnsureShared, RenewsALeafWhenTwoThirdsOfItsLifeAreOver) {
  auto world = formed();
  auto uid = world.shared(Shared::kServerTls)->uid;
  world.advance(std::chrono::days(59));
  world.answer();
  EXPECT_THAT(steps_of<IssueLeaf>(world.decide()), IsEmpty());
  EXPECT_LE(*world.decide().look_again_in, std::chrono::days(1)) << "looks again in time";
  world.advance(std::chrono::days(2));
  world.answer();
  auto steps = steps_of<IssueLeaf>(world.decide());
  ASSERT_THAT(steps, SizeIs(4));
  world.settle();
  EXPECT_EQ(world.shared(Shared::kServerTls)->uid, uid) << "in place";
  EXPECT_EQ(condition(world.status(), "CertificatesValid"), "True");
}

TEST(EnsureShared, DoesNotReplaceALeafOfAnotherAuthority) {
  auto world = formed();
  world.shared(Shared::kPeerTls)->certificate->authority = "somebody's";
  auto decision = world.decide();
  EXPECT_THAT(steps_of<IssueLeaf>(decision), IsEmpty());
  EXPECT_THAT(codes_of(decision, "ensure"), Contains("AuthorityChanged"));
}

// Nobody trusts the old authority yet: there is no reason to wait for a person.
TEST(EnsureShared, MakesALostAuthorityAndItsLeavesAnewBeforeAnyMemberRuns) {
  World world;
  world.refuses = [](const Step& step) { return std::holds_alternative<AllowRun>(step); };
  world.pass();
  world.pass();
  ASSERT_FALSE(world.record("c-0")->spec.run);
  ASSERT_NE(world.shared(Shared::kPeerTls), nullptr);
  std::erase_if(world.seen.shared, [](const auto& one) { return one.which == Shared::kPeerCa; });
  auto decision = world.decide();
  EXPECT_THAT(steps_of<CreateAuthority>(decision), SizeIs(1));
  ASSERT_THAT(steps_of<IssueLeaf>(decision), SizeIs(1)) << "in the same pass, before any Pod";
  EXPECT_EQ(steps_of<IssueLeaf>(decision)[0].which, Shared::kPeerTls);
  EXPECT_EQ(steps_of<IssueLeaf>(decision)[0].renews, world.shared(Shared::kPeerTls)->uid);
  world.refuses = nullptr;
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
}

TEST(EnsureShared, IssuesLeavesOfANewAuthorityAnewBeforeAnyMemberRuns) {
  World world;
  world.refuses = [](const Step& step) { return std::holds_alternative<AllowRun>(step); };
  world.pass();
  world.pass();
  world.shared(Shared::kPeerTls)->certificate->authority = "another";
  EXPECT_THAT(steps_of<IssueLeaf>(world.decide()), SizeIs(1));
}

TEST(EnsureShared, NamesTheServicesInCertificates) {
  Observation seen;
  seen.cluster.key = ClusterKey{{"n", "c"}};
  EXPECT_THAT(names_of_leaf(Shared::kPeerTls, seen), ElementsAre("*.c-peer.n.svc"));
  EXPECT_THAT(names_of_leaf(Shared::kServerTls, seen),
              ElementsAre("*.c-peer.n.svc", "c", "c.n", "c.n.svc", "localhost", "127.0.0.1"));
  EXPECT_THAT(names_of_leaf(Shared::kOperatorTls, seen), IsEmpty());
  seen.op.cluster_domain = "cluster.local";
  EXPECT_THAT(names_of_leaf(Shared::kPeerTls, seen),
              ElementsAre("*.c-peer.n.svc", "*.c-peer.n.svc.cluster.local"));
  EXPECT_THAT(names_of_leaf(Shared::kServerTls, seen),
              ElementsAre("*.c-peer.n.svc", "*.c-peer.n.svc.cluster.local", "c", "c.n", "c.n.svc",
                          "c.n.svc.cluster.local", "localhost", "127.0.0.1"));
}

TEST(EnsureShared, RenewsLeavesInPlaceWhenTheClusterDomainChanges) {
  World world;
  world.settle();
  world.seen.op.cluster_domain = "example.org";
  const auto issued = steps_of<IssueLeaf>(world.decide());
  ASSERT_THAT(issued, SizeIs(2)) << "of peers and of servers; clients have no names";
  for (const auto& leaf : issued) EXPECT_EQ(leaf.renews, world.shared(leaf.which)->uid);
}

// ---- Members ----

TEST(EnsureMembers, BringsAPodBackOnItsOwnVolumeAndTellsItWhatIsKnown) {
  auto world = formed();
  world.delete_pod("c-1");
  auto pods = steps_of<CreatePod>(world.decide());
  ASSERT_THAT(pods, SizeIs(1));
  EXPECT_EQ(pods[0].shape.claim, "data-c-1");
  EXPECT_FALSE(pods[0].state.formation_open);
  EXPECT_TRUE(pods[0].state.identity.started);
  EXPECT_EQ(pods[0].state.identity.cluster_id, World::kClusterId);
  EXPECT_EQ(pods[0].state.identity.member_id, World::member_id(Ordinal(1)));
  EXPECT_FALSE(pods[0].first_pod);
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
}

TEST(EnsureMembers, NeverMakesALostVolumeAnew) {
  auto world = formed();
  world.delete_pod("c-1");
  world.delete_claim("data-c-1");
  auto decision = world.decide();
  for (const auto& claim : steps_of<CreateClaim>(decision)) EXPECT_EQ(claim.name, "data-c-3");
  EXPECT_THAT(steps_of<CreatePod>(decision), IsEmpty());
  EXPECT_THAT(message_of(decision, "RemovingMember"), HasSubstr("c-1 does not come back"));
  EXPECT_EQ(condition(*decision.status, "Degraded"), "True");
}

TEST(EnsureMembers, MakesNoPodForAVolumeThatIsGoing) {
  auto world = formed();
  world.delete_pod("c-1");
  world.claim("data-c-1")->deleting = true;
  auto decision = world.decide();
  EXPECT_THAT(steps_of<CreatePod>(decision), IsEmpty());
  EXPECT_THAT(message_of(decision, "VolumeLeaving"), HasSubstr("data-c-1"));
}

TEST(EnsureMembers, DoesNotMountAVolumeOfAnotherUid) {
  auto world = formed();
  world.delete_pod("c-1");
  world.claim("data-c-1")->uid = Uid("another");  // deleted, and made again by somebody
  auto decision = world.decide();
  EXPECT_THAT(steps_of<CreatePod>(decision), IsEmpty());
  EXPECT_THAT(codes_of(decision, "heal"), Contains("RemovingMember"));
}

TEST(EnsureMembers, DoesNotBringAPodBoundMemberBack) {
  api::ClusterSpec spec;
  spec.storage = {std::nullopt, api::EmptyDirStorage{}, {}};
  auto world = formed(spec);
  world.delete_pod("c-1");
  world.answer();
  auto decision = world.decide();
  EXPECT_THAT(steps_of<CreatePod>(decision), IsEmpty());
  EXPECT_THAT(codes_of(decision, "heal"), Contains("RemovingMember"));
}

TEST(EnsureMembers, TellsWhatTheGuardFound) {
  auto world = formed();
  world.end_container(
      "c-1", launch::kExitLost,
      R"({"verdict":"lost","member":"c-1","reason":"the directory has no log","data":false})");
  world.answer();
  auto decision = world.decide();
  EXPECT_THAT(message_of(decision, "MemberDataLost"), HasSubstr("the directory has no log"));
  EXPECT_EQ(disruptive_step(decision), nullptr);
}

TEST(EnsureMembers, KeepsClientsAwayFromAMemberWhoseDataIsLost) {
  auto world = formed();
  world.end_container("c-1", launch::kExitLost, R"({"reason":"no log","data":false})");
  auto steps = steps_of<SetServing>(world.decide());
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].pod, "c-1");
  EXPECT_FALSE(steps[0].serving);
  world.pass();
  EXPECT_FALSE(world.pod("c-1")->serving);
  EXPECT_THAT(steps_of<SetServing>(world.decide()), IsEmpty());
}

// It may well answer its clients.
TEST(EnsureMembers, DoesNotKeepClientsAwayFromAMemberThatDoesNotAnswerUs) {
  auto world = formed();
  world.silence();
  EXPECT_THAT(steps_of<SetServing>(world.decide()), IsEmpty());
}

TEST(EnsureMembers, WritesALostRecordAgain) {
  auto world = formed();
  auto before = world.record("c-1")->spec;
  world.delete_record("c-1");
  world.lose_status();
  auto steps = steps_of<CreateRecord>(world.decide());
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].spec, before);
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
  EXPECT_THAT(world.seen.pods, SizeIs(3));
}

TEST(EnsureMembers, SurvivesTheLossOfAllRecordsAndStatus) {
  auto world = formed();
  world.seen.records.clear();
  world.lose_status();
  EXPECT_THAT(steps_of<CreatePod>(world.decide()), IsEmpty());
  world.settle();
  EXPECT_THAT(world.seen.records, SizeIs(3));
  EXPECT_EQ(world.status().cluster_id, World::kClusterId);
  EXPECT_THAT(world.pod_names(), ElementsAre("c-0", "c-1", "c-2"));
}

TEST(EnsureMembers, SurvivesTheLossOfAllPodsAndRecordsAndStatus) {
  auto world = formed();
  world.seen.records.clear();
  world.seen.pods.clear();
  world.seen.answers.clear();
  world.lose_status();
  world.pass();
  auto pods = steps_of<CreatePod>(world.decide());
  ASSERT_THAT(pods, SizeIs(3)) << "claims know who they are";
  for (const auto& pod : pods) EXPECT_FALSE(pod.state.formation_open);
  world.settle();
  EXPECT_EQ(world.status().cluster_id, World::kClusterId);
}

TEST(EnsureMembers, RemovesAFinishedPodAndMakesItAgain) {
  auto world = formed();
  auto uid = world.pod("c-1")->uid;
  world.pod("c-1")->phase = PodPhase::kFailed;
  world.pod("c-1")->etcd = {};
  world.pod("c-1")->ready = false;
  EXPECT_THAT(steps_of<RemoveFinishedPod>(world.decide()), SizeIs(1));
  world.settle();
  EXPECT_NE(world.pod("c-1")->uid, uid);
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
}

TEST(EnsureMembers, WaitsForAPodThatIsGoing) {
  auto world = formed();
  world.pod("c-1")->deleting = true;
  world.pod("c-1")->ready = false;
  auto decision = world.decide();
  EXPECT_THAT(steps_of<CreatePod>(decision), IsEmpty());
  EXPECT_THAT(codes_of(decision, "ensure"), Contains("PodLeaving"));
}

TEST(EnsureMembers, WaitsByNameForAPodThatSomebodyElseHas) {
  World world;
  world.seen.taken_names = {"Pod c-0"};
  for (int i = 0; i < 4; ++i) world.pass();
  EXPECT_THAT(world.pod_names(), ElementsAre("c-1", "c-2"));
  EXPECT_THAT(message_of(world.decide(), "NameTaken"), HasSubstr("Pod c-0"));
}

TEST(EnsureMembers, GrowsClaims) {
  auto world = formed();
  world.edit([](api::ClusterSpec& spec) {
    spec.storage.claim->size = api::Quantity::of(Bytes(std::int64_t{2} << 30));
  });
  EXPECT_THAT(steps_of<GrowClaim>(world.decide()), SizeIs(3));
  world.pass();
  EXPECT_THAT(message_of(world.decide(), "VolumeGrowing"), HasSubstr("has 1Gi of 2Gi"));
  EXPECT_EQ(world.decide().status->observed_generation, 1) << "not in place yet";
  for (auto& claim : world.seen.claims) claim.capacity = claim.requested;
  world.settle();
  EXPECT_EQ(world.status().observed_generation, 2);
}

TEST(EnsureMembers, NamesRefusals) {
  World world;
  world.seen.refusals = {{"Pod c-0", "create", "forbidden: exceeded quota", false, {}}};
  EXPECT_EQ(message_of(world.decide(), "Refused"), "create Pod c-0: forbidden: exceeded quota");
}

TEST(EnsureMembers, NamesWhyAPodDoesNotStart) {
  World world;
  for (int i = 0; i < 4 && world.seen.pods.empty(); ++i) world.pass();
  world.pod("c-0")->unschedulable = "0/3 nodes are available";
  world.pod("c-1")->etcd.waiting = "ErrImagePull";
  world.pod("c-1")->etcd.waiting_message = "not found";
  world.end_container("c-2", 2, "");
  auto decision = world.decide();
  EXPECT_EQ(message_of(decision, "Unschedulable"), "c-0: 0/3 nodes are available");
  EXPECT_EQ(message_of(decision, "ErrImagePull"), "c-1: not found");
  EXPECT_EQ(message_of(decision, "EtcdExits"), "c-2: etcd ended with 2: Error");
}

// Of the last lines of its log, those that tell.
TEST(EnsureMembers, TellsEtcdsLastWords) {
  const auto told = [](int code, const std::string& log) {
    World world;
    for (int i = 0; i < 4 && world.seen.pods.empty(); ++i) world.pass();
    world.end_container("c-2", code, log);
    return message_of(world.decide(), "EtcdExits");
  };
  const auto fatal =
      R"({"level":"fatal","ts":"%","msg":"discovery \"x\" failed","error":"no peer"})";
  const auto at = [&](const char* time) {
    auto line = std::string(fatal);
    return line.replace(line.find('%'), 1, time);
  };
  EXPECT_EQ(told(1, "one\n" + at("10:00") + "\n\n"),
            R"(c-2: etcd ended with 1: discovery \"x\" failed: no peer)");
  EXPECT_EQ(told(1, at("10:00")), told(1, at("10:05"))) << "the same end, the same words";
  EXPECT_EQ(told(2, "panic: tocommit(8) is out of range\n\ngoroutine 1 [running]:\nmain.main()\n"),
            "c-2: etcd ended with 2: panic: tocommit(8) is out of range");
  EXPECT_EQ(told(2, "one\n  two  \n"), "c-2: etcd ended with 2: two");
  EXPECT_EQ(told(2, std::string(5000, 'x')), "c-2: etcd ended with 2: " + std::string(300, 'x'));
}

TEST(EnsureMembers, MakesClaimsGoWithTheClusterIfTold) {
  api::ClusterSpec spec;
  spec.storage.retention.when_deleted = api::Retention::kDelete;
  auto steps = steps_of<CreateClaim>(World(spec).decide());
  ASSERT_THAT(steps, SizeIs(3));
  EXPECT_TRUE(steps[0].owned);
  EXPECT_FALSE(steps_of<CreateClaim>(World().decide())[0].owned);
}

TEST(EnsureMembers, LetsClaimsGoWithTheClusterOrNotAsItIsDeclaredNow) {
  auto world = formed(3);
  const auto owned = [&] {
    std::vector<bool> out;
    for (const auto& claim : world.seen.claims) out.push_back(!claim.owners.empty());
    return out;
  };
  EXPECT_THAT(owned(), ElementsAre(false, false, false));
  world.claim("data-c-1")->owners = {Uid("of-somebody-else")};
  for (const auto retention : {api::Retention::kDelete, api::Retention::kRetain}) {
    world.edit([&](api::ClusterSpec& spec) { spec.storage.retention.when_deleted = retention; });
    EXPECT_LT(world.decide().status->observed_generation, world.seen.cluster.generation)
        << "not before it is so";
    world.settle();
    EXPECT_EQ(world.status().observed_generation, world.seen.cluster.generation);
    for (const auto& claim : world.seen.claims)
      EXPECT_EQ(std::count(claim.owners.begin(), claim.owners.end(), world.seen.cluster.uid),
                retention == api::Retention::kDelete)
          << claim.name;
  }
  EXPECT_THAT(world.claim("data-c-1")->owners, ElementsAre(Uid("of-somebody-else")));
}

TEST(EnsureMembers, LetsVolumesThatWereKeptGoWithTheClusterToo) {
  api::ClusterSpec spec;
  spec.storage.retention.when_scaled = api::Retention::kRetain;
  auto world = formed(3, spec);
  scale(world, 1);
  world.settle();
  ASSERT_THAT(world.seen.claims, SizeIs(3));
  world.edit([](api::ClusterSpec& edited) {
    edited.storage.retention.when_deleted = api::Retention::kDelete;
  });
  world.settle();
  for (const auto& claim : world.seen.claims)
    EXPECT_THAT(claim.owners, ElementsAre(world.seen.cluster.uid)) << claim.name;
}

}  // namespace
}  // namespace quorate::plan

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/gate.h"
#include "plan/world_test.h"

// One authority takes another's place.
namespace quorate::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using std::chrono::hours;

constexpr auto kYear = hours(24 * 365);

// Formed, and both authorities are in the last third of their lives.
World grown_old(api::ClusterSpec spec = {}) {
  auto world = formed(std::move(spec));
  world.advance(7 * kYear);
  return world;
}

// Every member trusts what shows itself to it, and shows what is trusted: of each Pod what it
// mounted when it was made, of each Secret what it holds now.
class Trust {
 public:
  void look(World& world) {
    for (const auto& pod : world.seen.pods) {
      auto [place, first] = mounted_.try_emplace(pod.uid.value());
      if (!first) continue;
      for (auto which : {Shared::kPeerTls, Shared::kServerTls})
        place->second[which] = world.shared(which)->trusts;
    }
    for (const auto& pod : world.seen.pods)
      for (const auto& [which, trusts] : mounted_[pod.uid.value()])
        for (auto shown : shown_to(which))
          EXPECT_THAT(trusts, Contains(world.shared(shown)->certificate->authority))
              << pod.name << " does not let in " << name_of(shown, "c");
  }

 private:
  static std::vector<Shared> shown_to(Shared which) {
    if (which == Shared::kPeerTls) return {Shared::kPeerTls};
    return {Shared::kClientTls, Shared::kOperatorTls};
  }
  std::map<std::string, std::map<Shared, std::vector<std::string>>> mounted_;
};

// Until nothing is left to do before the old ones are retired, or at all.
void pass_until_quiet(World& world, Trust& trust) {
  for (int i = 0; i < 200; ++i) {
    const auto decision = next(world);
    trust.look(world);
    if (decision.stages.empty() && world.status().waiting.empty()) return;
  }
  ADD_FAILURE() << "it does not end";
}

TEST(Rotate, ReplacesBothAuthoritiesByTwoRollsAndNobodyIsLockedOut) {
  auto world = grown_old();
  const auto old = world.shared(Shared::kPeerCa)->certificate->authority;
  Trust trust;
  trust.look(world);
  pass_until_quiet(world, trust);
  EXPECT_EQ(count<IntroduceAuthority>(world), 2);
  EXPECT_EQ(count<SwitchAuthority>(world), 2);
  EXPECT_EQ(count<RetireAuthority>(world), 0) << "clients have a day";
  EXPECT_EQ(count<RestartMember>(world), 3) << "one roll for both";
  EXPECT_NE(world.shared(Shared::kPeerCa)->certificate->authority, old);
  EXPECT_THAT(world.shared(Shared::kPeerCa)->trusts, Contains(old));
  EXPECT_EQ(condition(world.status(), "Ready"), "True") << "meanwhile all is well";
  ASSERT_TRUE(world.decide().look_again_in);
  EXPECT_LE(*world.decide().look_again_in, hours(24)) << "it will look by itself";

  world.advance(hours(25));
  pass_until_quiet(world, trust);
  EXPECT_EQ(count<RetireAuthority>(world), 2);
  EXPECT_EQ(count<RestartMember>(world), 6);
  for (auto which : kAllShared) EXPECT_THAT(world.shared(which)->trusts, Not(Contains(old)));
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
  EXPECT_THAT(world.decide().stages, IsEmpty());
}

// A certificate is valid from before it was made: that is not time that clients had.
TEST(Rotate, LeavesClientsTimeAlsoIfAuthoritiesAreShortLived) {
  auto world = grown_old();
  Trust trust;
  pass_until_quiet(world, trust);
  ASSERT_EQ(count<SwitchAuthority>(world), 2);
  const auto made = world.seen.now.wall;
  for (auto which : kAllShared)
    if (auto& certificate = world.shared(which)->certificate) {
      certificate->not_before = made - std::chrono::minutes(10);
      certificate->not_after = made + std::chrono::minutes(30);
    }
  EXPECT_THAT(steps_of<RetireAuthority>(world.decide()), IsEmpty());
  world.advance(std::chrono::seconds(90));
  world.answer();
  EXPECT_THAT(steps_of<RetireAuthority>(world.decide()), IsEmpty());
  world.advance(std::chrono::seconds(60));
  world.answer();
  EXPECT_THAT(steps_of<RetireAuthority>(world.decide()), SizeIs(1));
}

TEST(Rotate, DoesNothingBeforeItsTime) {
  auto world = formed();
  world.advance(6 * kYear);
  world.settle();
  EXPECT_EQ(count<IntroduceAuthority>(world), 0);
}

// Wherever the operator dies, the next one goes on from what it finds.
TEST(Rotate, GoesOnFromAnyPoint) {
  for (int at_most : {1, 2, 3}) {
    auto world = grown_old();
    Trust trust;
    for (int i = 0; i < 300; ++i) {
      world.run_pods();
      world.answer();
      world.pass(at_most);
      world.advance(std::chrono::seconds(1));
      trust.look(world);
    }
    world.advance(hours(25));
    pass_until_quiet(world, trust);
    EXPECT_EQ(count<SwitchAuthority>(world), 2);
    EXPECT_EQ(count<RetireAuthority>(world), 2);
    EXPECT_EQ(condition(world.status(), "Ready"), "True");
  }
}

TEST(Rotate, SwitchesOnlyWhenEveryMemberWasRestartedWithBoth) {
  auto world = grown_old();
  int restarted = 0;
  for (int i = 0; i < 200 && count<SwitchAuthority>(world) == 0; ++i) {
    restarted = count<RestartMember>(world);
    next(world);
  }
  EXPECT_EQ(restarted, 3);
}

TEST(Rotate, WaitsForAMemberThatIsDown) {
  auto world = grown_old();
  while (count<RestartMember>(world) < 3) next(world);
  for (int i = 0; i < 3; ++i) next(world);
  world.pod("c-1")->etcd = {.waiting = "ContainerCreating"};
  world.pod("c-1")->ready = false;
  const auto switched = count<SwitchAuthority>(world);
  for (int i = 0; i < 5; ++i) next(world);
  EXPECT_EQ(count<SwitchAuthority>(world), switched);
}

// Somebody exchanged the authority by hand and left the old one trusted: members were not restarted
// with the new one, so nothing is issued by it.
TEST(Rotate, IssuesNothingByAnAuthorityThatWasNotHandedOutFirst) {
  auto world = formed();
  auto* authority = world.shared(Shared::kPeerCa);
  authority->certificate->authority = "by hand";
  authority->trusts.push_back("by hand");
  std::sort(authority->trusts.begin(), authority->trusts.end());
  world.run_pods();
  world.answer();
  const auto decision = world.decide();
  EXPECT_THAT(steps_of<IssueLeaf>(decision), IsEmpty());
  EXPECT_THAT(codes_of(decision, "ensure"), Contains("AuthorityChanged"));
}

TEST(Rotate, LeavesPlainClustersAlone) {
  api::ClusterSpec spec;
  spec.tls.peer.mode = spec.tls.client.mode = api::TlsMode::kDisabled;
  auto world = grown_old(spec);
  world.settle();
  EXPECT_EQ(count<IntroduceAuthority>(world), 0);
  EXPECT_EQ(count<RestartMember>(world), 0);
}

// A Secret that is missing for a moment says nothing of what members trust.
TEST(Rotate, ALostLeafRestartsNobody) {
  auto world = formed();
  std::erase_if(world.seen.shared,
                [](const SharedFacts& one) { return one.which == Shared::kPeerTls; });
  world.settle();
  EXPECT_NE(world.shared(Shared::kPeerTls), nullptr);
  EXPECT_EQ(count<RestartMember>(world), 0);
}

}  // namespace
}  // namespace quorate::plan

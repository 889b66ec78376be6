#include "plan/update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "plan/any_world_test.h"
#include "plan/world_test.h"

// spec.update: when a roll may begin with another member, and what is never held by it.
namespace quorate::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using namespace std::chrono_literals;

constexpr auto kYear = std::chrono::hours(24 * 365);

api::ClusterSpec with(api::UpdateSpec update, api::ClusterSpec spec = {}) {
  spec.version = api::EtcdVersion{3, 6, 15};
  spec.update = std::move(update);
  return spec;
}

api::UpdateSpec pausing(api::Span pause) { return {.pause_between = pause}; }
api::UpdateSpec on_delete() { return {.strategy = api::UpdateStrategy::kOnDelete}; }

// A window that opens so long after the beginning of the world, every day.
api::UpdateSpec opening_in(const World& world, std::chrono::minutes wait, api::Span duration = 1h) {
  const auto opens = world.seen.now.wall + wait;
  const auto time = std::chrono::floor<std::chrono::minutes>(
      opens - std::chrono::floor<std::chrono::days>(opens));
  const std::chrono::hh_mm_ss day(time);
  char text[6];
  std::snprintf(text, sizeof text, "%02d:%02d", static_cast<int>(day.hours().count()),
                static_cast<int>(day.minutes().count()));
  return {.window = api::UpdateWindow{{}, text, duration, api::TimeZone::kUtc}};
}

void more_memory(World& world, const char* memory = "256Mi") {
  world.edit([&](api::ClusterSpec& spec) {
    spec.resources.requests.memory = *api::Quantity::parse(memory);
  });
}

std::vector<std::string> restarted(const World& world) {
  std::vector<std::string> out;
  for (const auto& step : world.history()) {
    if (const auto* one = std::get_if<RestartMember>(&step)) out.push_back(one->pod.name);
    if (const auto* one = std::get_if<ReimageMember>(&step)) out.push_back(one->pod.name);
  }
  return out;
}

const api::WaitingEntry* find_wait(const World& world, std::string_view reason) {
  for (const auto& entry : world.status().waiting)
    if (entry.reason == reason) return &entry;
  return nullptr;
}

// ---- The window ----

// Formed, with more memory wanted, a while before its window opens.
World closed(std::chrono::minutes opens_in = 30min, api::ClusterSpec spec = {}) {
  auto world = formed(with({}, std::move(spec)));
  world.edit([&](api::ClusterSpec& one) { one.update = opening_in(world, opens_in); });
  more_memory(world);
  return world;
}

TEST(UpdateWindow, HoldsARollUntilItOpensAndSaysWhen) {
  auto world = closed();
  world.settle();
  EXPECT_THAT(restarted(world), IsEmpty());
  const auto* wait = find_wait(world, "WindowClosed");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->rule, "roll");
  EXPECT_THAT(wait->message, HasSubstr("3 of 3 members are not as declared (c-0, c-1, c-2)"));
  ASSERT_TRUE(wait->deadline);
  EXPECT_GT(*wait->deadline, world.seen.now.wall);
  EXPECT_LE(*wait->deadline, world.seen.now.wall + 30min);
  EXPECT_EQ(condition(world.status(), "Degraded"), "False");
  EXPECT_EQ(condition(world.status(), "Ready"), "False") << "it is not as declared";
  EXPECT_LT(world.status().observed_generation, world.seen.cluster.generation);

  world.advance(30min);
  world.settle();
  EXPECT_THAT(restarted(world), SizeIs(3));
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
}

// Nobody is asked every second for days, and the moment is not missed.
TEST(UpdateWindow, IsWaitedForWithoutAskingAnybody) {
  auto world = closed();
  world.settle();
  const auto decision = world.decide();
  EXPECT_FALSE(decision.ask_members);
  ASSERT_TRUE(decision.look_again_in);
  EXPECT_EQ(
      world.seen.now.wall + std::chrono::floor<std::chrono::milliseconds>(*decision.look_again_in),
      *find_wait(world, "WindowClosed")->deadline);
  const auto before = world.seen.cluster.status;
  world.advance(10min);
  world.answer();
  EXPECT_EQ(world.decide().status, before) << "nothing is written meanwhile";
}

TEST(UpdateWindow, LetsTheMemberAtHandBeFinishedAndNoOtherBegin) {
  auto world = closed(30min);
  world.settle();
  world.advance(30min);
  while (restarted(world).empty()) next(world);
  world.advance(2h);
  world.settle();
  EXPECT_THAT(restarted(world), SizeIs(1));
  EXPECT_THAT(world.pod_names(), SizeIs(3)) << "the one at hand is back";
  const auto* wait = find_wait(world, "WindowClosed");
  ASSERT_NE(wait, nullptr);
  EXPECT_THAT(wait->message, HasSubstr("2 of 3 members"));
  world.advance(22h + 10min);
  world.settle();
  EXPECT_THAT(restarted(world), SizeIs(3));
}

TEST(UpdateWindow, DoesNotEvenMoveTheLeader) {
  auto world = closed();
  world.edit([](api::ClusterSpec& spec) { spec.replicas = 3; });
  world.settle();
  EXPECT_EQ(count<MoveLeader>(world), 0);
}

TEST(UpdateWindow, HoldsNobodyWhoDoesNotGetToRun) {
  auto world = closed();
  world.end_container("c-1", 1, "out of memory");
  world.silence();
  world.pass();
  EXPECT_THAT(restarted(world), ElementsAre("c-1"));
}

// It runs, but is neither ready nor counted on.
TEST(UpdateWindow, HoldsNobodyWhoFails) {
  auto world = closed();
  for (int i = 0; i < 3; ++i) {
    world.run_pods();
    world.answer();
    std::erase_if(world.seen.answers,
                  [](const MemberAnswer& answer) { return answer.ordinal == Ordinal(1); });
    world.pod("c-1")->ready = false;
    world.pass();
    if (!restarted(world).empty()) break;
    world.advance(1s);
  }
  EXPECT_THAT(restarted(world), ElementsAre("c-1"));
}

// A probe that failed once is no failure while the members count on it.
TEST(UpdateWindow, HoldsWhoIsMerelyNotReady) {
  auto world = closed();
  for (int i = 0; i < 5; ++i) {
    world.run_pods();
    world.answer();
    world.pod("c-1")->ready = false;
    world.pass();
    world.advance(1s);
  }
  EXPECT_THAT(restarted(world), IsEmpty());
  EXPECT_NE(find_wait(world, "WindowClosed"), nullptr);
}

TEST(UpdateWindow, HoldsNeitherHealingNorResizing) {
  auto world = closed();
  world.delete_claim("data-c-1");
  world.delete_pod("c-1");
  world.settle();
  EXPECT_EQ(count<RemoveMember>(world), 1);
  EXPECT_THAT(world.voters(), ElementsAre("c-0", "c-2", "c-3"));
  scale(world, 5);
  world.settle();
  EXPECT_THAT(world.voters(), SizeIs(5));
  EXPECT_THAT(restarted(world), IsEmpty());
}

// A Pod that dies by itself comes back as declared now.
TEST(UpdateWindow, IsNoReasonToMakeAPodAsItWas) {
  auto world = closed();
  world.settle();
  world.delete_pod("c-2");
  world.settle();
  EXPECT_THAT(find_wait(world, "WindowClosed")->message, HasSubstr("2 of 3 members"));
}

TEST(UpdateWindow, IsNotAskedBeforeTheClusterHasFormed) {
  World world(with({}));
  world.edit([&](api::ClusterSpec& spec) { spec.update = opening_in(world, 6h * 60 / 60); });
  world.pass();
  more_memory(world);
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
}

// ---- The pause ----

TEST(UpdatePause, IsHeldBetweenTwoMembersFromWhenTheLastOneWasReady) {
  auto world = formed(with(pausing(10min)));
  world.advance(1h);
  more_memory(world);
  world.settle();
  ASSERT_THAT(restarted(world), SizeIs(1));
  const auto* wait = find_wait(world, "PausesBetween");
  ASSERT_NE(wait, nullptr);
  const auto since = *world.pod(restarted(world).front())->ready_since;
  EXPECT_EQ(wait->since, since);
  EXPECT_EQ(wait->deadline, since + 10min);
  EXPECT_THAT(wait->message, HasSubstr(restarted(world).front() + " has been ready since"));
  EXPECT_FALSE(world.decide().ask_members);

  world.seen.now.wall = since + 10min - 1ms;
  world.seen.began = world.seen.now.monotonic;
  world.answer();
  world.pass();
  EXPECT_THAT(restarted(world), SizeIs(1));
  world.seen.now.wall = since + 10min;
  world.answer();
  world.pass();
  EXPECT_THAT(restarted(world), SizeIs(2));
}

TEST(UpdatePause, IsNeitherShortenedNorBegunAnewByACrashAnotherLeaderOrALostStatus) {
  auto world = formed(with(pausing(10min)));
  world.advance(1h);
  more_memory(world);
  world.settle();
  const auto deadline = find_wait(world, "PausesBetween")->deadline;
  world.advance(4min);
  world.lose_status();
  world.seen.op.epoch += 1;
  world.seen.known_since = world.seen.now.monotonic;
  world.settle();
  ASSERT_NE(find_wait(world, "PausesBetween"), nullptr);
  EXPECT_EQ(find_wait(world, "PausesBetween")->deadline, deadline);
}

// Another declaration in mid-roll does not hurry it: the last restart is no longer ago for that.
TEST(UpdatePause, HoldsAcrossDeclarations) {
  auto world = formed(with(pausing(10min)));
  world.advance(1h);
  more_memory(world);
  world.settle();
  more_memory(world, "512Mi");
  world.settle();
  EXPECT_THAT(restarted(world), SizeIs(2))
      << "the one that became ready last may be restarted again, and nobody else";
  EXPECT_EQ(restarted(world)[0], restarted(world)[1]);
  EXPECT_NE(find_wait(world, "PausesBetween"), nullptr);
}

TEST(UpdatePause, OfZeroIsNone) {
  auto world = formed(with(pausing(0s)));
  more_memory(world);
  world.settle();
  EXPECT_THAT(restarted(world), SizeIs(3));
}

TEST(UpdatePause, ReachesTheEndAlsoWithAnotherVersionInPlace) {
  auto world = formed(with(pausing(5min)));
  world.advance(1h);
  world.edit([](api::ClusterSpec& spec) { spec.version = api::EtcdVersion{3, 6, 16}; });
  for (int i = 0; i < 3; ++i) {
    world.settle();
    EXPECT_THAT(restarted(world), SizeIs(static_cast<std::size_t>(i) + 1));
    world.advance(5min);
  }
  world.settle();
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
}

TEST(UpdatePause, HoldsNobodyWhoDoesNotGetToRun) {
  auto world = formed(with(pausing(10min)));
  world.advance(1h);
  more_memory(world);
  world.settle();
  const auto other = restarted(world).front() == "c-1" ? "c-2" : "c-1";
  world.end_container(other, 1, "out of memory");
  world.silence();
  world.pass();
  EXPECT_THAT(restarted(world), ElementsAre(restarted(world).front(), other));
}

// ---- OnDelete ----

TEST(OnDelete, LeavesMembersAsTheyAreUntilTheirPodsAreDeleted) {
  auto world = formed(with(on_delete()));
  more_memory(world);
  world.settle();
  EXPECT_THAT(restarted(world), IsEmpty());
  const auto* wait = find_wait(world, "WaitsForDeletion");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->deadline, std::nullopt) << "it takes as long as a person wants";
  EXPECT_THAT(wait->message, HasSubstr("(c-0, c-1, c-2)"));
  EXPECT_EQ(condition(world.status(), "Progressing"), "False");
  EXPECT_EQ(condition(world.status(), "Degraded"), "False");
  EXPECT_EQ(condition(world.status(), "Available"), "True");

  world.delete_pod("c-1");
  world.settle();
  EXPECT_THAT(find_wait(world, "WaitsForDeletion")->message, HasSubstr("(c-0, c-2)"));
  world.delete_pod("c-0");
  world.settle();
  world.delete_pod("c-2");
  world.settle();
  EXPECT_THAT(restarted(world), IsEmpty());
  EXPECT_EQ(condition(world.status(), "Ready"), "True");
  EXPECT_EQ(world.status().observed_generation, world.seen.cluster.generation);
}

TEST(OnDelete, StillMendsWhoDoesNotGetToRunAsItIs) {
  auto world = formed(with(on_delete()));
  world.end_container("c-1", 1, "out of memory");
  more_memory(world);
  world.silence();
  world.pass();
  EXPECT_THAT(restarted(world), ElementsAre("c-1"));
}

TEST(OnDelete, LeavesWhoRunsAndFailsToPeople) {
  auto world = formed(with(on_delete()));
  more_memory(world);
  for (int i = 0; i < 5; ++i) {
    world.run_pods();
    world.answer();
    std::erase_if(world.seen.answers,
                  [](const MemberAnswer& answer) { return answer.ordinal == Ordinal(1); });
    world.pod("c-1")->ready = false;
    world.pass();
    world.advance(1s);
  }
  EXPECT_THAT(restarted(world), IsEmpty());
}

TEST(OnDelete, TakenBackLetsTheRollBegin) {
  auto world = formed(with(on_delete()));
  more_memory(world);
  world.settle();
  world.edit([](api::ClusterSpec& spec) { spec.update = {}; });
  world.settle();
  EXPECT_THAT(restarted(world), SizeIs(3));
}

// ---- Where data goes with the Pod ----

TEST(UpdateOfPodBound, HoldsReplacementsAsWell) {
  auto world = formed(with({}, pod_bound()));
  world.edit([&](api::ClusterSpec& spec) { spec.update = opening_in(world, 30min); });
  more_memory(world);
  world.settle();
  EXPECT_EQ(count<AddLearner>(world), 0);
  EXPECT_NE(find_wait(world, "WindowClosed"), nullptr);
  EXPECT_THAT(world.seen.records, SizeIs(3)) << "nobody was prepared";
  world.advance(30min);
  world.settle();
  EXPECT_EQ(count<AddLearner>(world), 3);
  EXPECT_THAT(world.voters(), ElementsAre("c-3", "c-4", "c-5"));
}

// At each moment of a replacement the window closes: it is brought to its end, and is the last.
TEST(UpdateOfPodBound, FinishesTheReplacementAtHand) {
  for (int passes = 1; passes < 25; ++passes) {
    auto world = formed(with({}, pod_bound()));
    more_memory(world);
    for (int i = 0; i < passes && count<RemoveMember>(world) == 0; ++i) next(world);
    const bool began = world.seen.records.size() > 3;
    const int added = count<AddLearner>(world);
    world.edit([&](api::ClusterSpec& spec) { spec.update = opening_in(world, 12h); });
    world.settle();
    const auto all = count<AddLearner>(world);
    EXPECT_LE(all, 1) << passes;
    EXPECT_EQ(all, began ? 1 : added) << passes;
    EXPECT_EQ(count<RemoveMember>(world), all) << passes;
    EXPECT_THAT(world.voters(), SizeIs(3)) << passes;
    EXPECT_NE(find_wait(world, "WindowClosed"), nullptr) << passes;
  }
}

TEST(UpdateOfPodBound, GrowsWithoutReplacingWhileItIsClosed) {
  auto world = formed(with({}, pod_bound()));
  world.edit([&](api::ClusterSpec& spec) { spec.update = opening_in(world, 6h); });
  more_memory(world);
  scale(world, 5);
  world.settle();
  EXPECT_THAT(world.voters(), SizeIs(5));
  EXPECT_THAT(world.voters(), Contains("c-0"));
  EXPECT_EQ(count<RemoveMember>(world), 0);
}

// ---- Whatever else is so ----

// Of clusters that are disturbed in every way: who is ready is not restarted, and nobody is
// replaced for what is declared, while that is held.
TEST(UpdateProperties, NobodyWhoIsWellIsDisturbedBeforeItsTime) {
  const auto restarts = [](World& world) {
    std::vector<std::string> out;  // of those who are ready
    const auto decision = world.decide();
    for (const auto& step : steps_of<RestartMember>(decision)) out.push_back(step.pod.name);
    for (const auto& step : steps_of<ReimageMember>(decision)) out.push_back(step.pod.name);
    std::erase_if(out, [&](const std::string& name) { return !world.pod(name)->ready; });
    return out;
  };
  int held = 0;
  EXPECT_TRUE(rc::check([&] {
    auto world = disturbed_world();
    const bool by_hand = *rc::gen::arbitrary<bool>();
    world.edit([](api::ClusterSpec& spec) {
      spec.update = {};
      spec.resources.requests.memory = *api::Quantity::parse("300Mi");
    });
    held += static_cast<int>(restarts(world).size());
    world.edit([&](api::ClusterSpec& spec) {
      spec.update = by_hand ? on_delete() : opening_in(world, 6h);
    });
    if (!make_situation(world.seen).problems.empty()) return;  // something else is in force
    RC_ASSERT(restarts(world).empty());
  }));
  EXPECT_GT(held, 0) << "nobody would have been restarted: nothing is shown";
}

// ---- Authorities ----

// Both authorities are in the last third of their lives, and their successors are there.
World rotating(api::UpdateSpec update) {
  auto world = formed(with(std::move(update)));
  world.advance(7 * kYear);
  world.settle();
  EXPECT_EQ(count<IntroduceAuthority>(world), 2);
  return world;
}

TEST(UpdateOfAuthorities, WaitsForPeopleAsLongAsThereIsTime) {
  auto world = rotating(on_delete());
  EXPECT_THAT(restarted(world), IsEmpty());
  EXPECT_NE(find_wait(world, "WaitsForDeletion"), nullptr);
  ASSERT_TRUE(world.decide().look_again_in);
  EXPECT_GT(*world.decide().look_again_in, std::chrono::hours(24));
  EXPECT_LT(*world.decide().look_again_in, 2 * kYear) << "it will look by itself in time";
  for (const char* name : {"c-0", "c-1", "c-2"}) {
    world.delete_pod(name);
    world.settle();
  }
  EXPECT_EQ(count<SwitchAuthority>(world), 2) << "people have done what was to be done";
  EXPECT_THAT(restarted(world), IsEmpty());
}

// Whatever is declared: certificates that run out are an outage of all.
TEST(UpdateOfAuthorities, DoesNotWaitUntilTheyHaveRunOut) {
  const auto never = [] {
    return api::UpdateSpec{.window = api::UpdateWindow{{}, "00:00", 10min, api::TimeZone::kUtc}};
  };
  for (auto update : {on_delete(), never(), pausing(24h)}) {
    auto world = rotating(update);
    const auto expires = world.shared(Shared::kPeerCa)->certificate->not_after;
    world.advance(std::chrono::hours(24 * 500));
    ASSERT_LT(world.seen.now.wall, expires);
    world.settle();
    EXPECT_EQ(count<SwitchAuthority>(world), 2);
    EXPECT_THAT(restarted(world), SizeIs(3));
  }
}

// The second roll only ends the trust in an authority that issues nothing any more.
TEST(UpdateOfAuthorities, LetsTheOldOneBeTrustedUntilPeopleDeletePods) {
  auto world = rotating(on_delete());
  world.advance(std::chrono::hours(24 * 500));
  world.settle();
  world.advance(std::chrono::hours(25));
  world.settle();
  EXPECT_EQ(count<RetireAuthority>(world), 2);
  EXPECT_THAT(restarted(world), SizeIs(3)) << "no second roll by us";
  EXPECT_NE(find_wait(world, "WaitsForDeletion"), nullptr);
}

// What else is declared and waits for people does not keep authorities from being switched.
TEST(UpdateOfAuthorities, AreSwitchedWhileOtherThingsWait) {
  auto world = rotating(on_delete());
  for (const char* name : {"c-0", "c-1", "c-2"}) {
    world.delete_pod(name);
    world.run_pods();
    world.answer();
    world.pass();
    world.run_pods();
    world.answer();
  }
  more_memory(world);
  world.settle();
  EXPECT_EQ(count<SwitchAuthority>(world), 2);
  EXPECT_NE(find_wait(world, "WaitsForDeletion"), nullptr);
}

}  // namespace
}  // namespace quorate::plan

#include "kube/lease.h"

#include <gtest/gtest.h>

#include "kube/fake_server.h"

namespace quorate::kube {
namespace {

using namespace std::chrono_literals;

constexpr const char* kCollection = "/apis/coordination.k8s.io/v1/leases";
const ObjectKey kLease{"n", "quorate"};

TEST(LeaseTimings, AreRefusedWhereALeaderCouldOutliveItsLease) {
  EXPECT_TRUE(LeaseTimings().check());
  EXPECT_FALSE((LeaseTimings{15s, 15s, 2s}.check()));
  EXPECT_FALSE((LeaseTimings{10s, 15s, 2s}.check()));
  EXPECT_FALSE((LeaseTimings{15s, 2400ms, 2s}.check()));
  EXPECT_TRUE((LeaseTimings{15s, 2500ms, 2s}.check()));
  EXPECT_FALSE((LeaseTimings{15s, 10s, 0s}.check()));
  EXPECT_FALSE((LeaseTimings{1500ms, 1s, 100ms}.check()));
  EXPECT_FALSE((LeaseTimings{11min, 10s, 2s}.check()));
}

TEST(Leadership, IsQuietAtOnceAfterACleanHandoverOnly) {
  const Monotonic start{};
  Leadership leadership{1, Handover::kReleased, start + 100s, start + 90s, 15s};
  EXPECT_EQ(leadership.quiet_from(30s), start + 100s);
  leadership.handover = Handover::kExpired;
  EXPECT_EQ(leadership.quiet_from(0s), start + 105s);
  EXPECT_EQ(leadership.quiet_from(30s), start + 135s);
  leadership.last_sign = start;
  EXPECT_EQ(leadership.quiet_from(30s), start + 100s);
}

// One replica: its election, and what became of it.
struct Replica {
  Replica(FakeWorld& in, std::string actor_name)
      : world(in),
        name(std::move(actor_name)),
        runtime(in.loop.actor(name)),
        client(runtime, in.server),
        election(runtime, client, {kLease, name, LeaseTimings(), Log()}),
        group(runtime) {}

  void start() {
    outcome.reset();
    group.spawn("election", run());
  }
  Task<void> run() {
    outcome = co_await election.run([this](Leadership leadership) { return lead(leadership); });
  }
  Task<void> lead(Leadership leadership) {
    led.push_back(leadership);
    working = true;
    (void)co_await runtime.clock->sleep_until(work_ends);
    // Telling the others takes a while, also when told to stop: it is not cut short.
    working = false;
  }
  // The moment in which it may act.
  bool acts() const {
    const auto now = runtime.clock->now();
    const auto& leadership = election.leadership();
    return leadership && now < election.valid_until() && now >= leadership->quiet_from(0s);
  }

  FakeWorld& world;
  std::string name;
  rt::Runtime runtime;
  Client client;
  Election election;
  rt::TaskGroup group;
  std::vector<Leadership> led;
  bool working = false;
  Monotonic work_ends = Monotonic::max();
  std::optional<Result<void>> outcome;
};

struct ElectionTest : ::testing::Test {
  std::string holder() {
    const json::Value* lease = world.server.find(kCollection, kLease.ns, kLease.name);
    return lease ? std::string(json::text_or(*lease, "/spec/holderIdentity", "")) : "";
  }
  FakeWorld world;
  Replica a{world, "a"};
  Replica b{world, "b"};
  CrashAtEnd crash_at_end{world.loop};
};

TEST_F(ElectionTest, TheFirstCandidateCreatesTheLeaseAndLeads) {
  a.start();
  world.loop.run_for(1s);
  EXPECT_TRUE(a.election.leading());
  EXPECT_TRUE(a.working);
  EXPECT_EQ(holder(), a.election.identity());
  ASSERT_EQ(a.led.size(), 1u);
  EXPECT_EQ(a.led[0].handover, Handover::kCreated);
  // Two years after the zero of epochs: a Lease that is created again does not start from 1.
  EXPECT_GT(a.led[0].epoch, 60'000'000);
}

TEST_F(ElectionTest, TheLeaderStaysWhileItRenews) {
  a.start();
  b.start();
  world.loop.run_for(10min);
  EXPECT_EQ(a.led.size() + b.led.size(), 1u);
  EXPECT_NE(a.election.leading(), b.election.leading());
  EXPECT_EQ(a.election.holder(), b.election.holder());
}

TEST_F(ElectionTest, ACleanStopHandsOverAtOnce) {
  a.start();
  world.loop.run_for(1s);
  b.start();
  world.loop.run_for(10s);
  a.election.stop();
  world.loop.run_for(100ms);
  ASSERT_TRUE(a.outcome);
  EXPECT_TRUE(*a.outcome);
  EXPECT_FALSE(a.election.leading());
  EXPECT_EQ(holder(), "");
  world.loop.run_for(5s);
  ASSERT_EQ(b.led.size(), 1u);
  EXPECT_EQ(b.led[0].handover, Handover::kReleased);
  EXPECT_GT(b.led[0].epoch, a.led[0].epoch);
  EXPECT_TRUE(b.acts());
}

TEST_F(ElectionTest, TheLeaseIsReleasedWhenTheWorkEndsByItself) {
  a.work_ends = Monotonic{} + 20s;
  a.start();
  world.loop.run_for(30s);
  ASSERT_TRUE(a.outcome);
  EXPECT_TRUE(*a.outcome);
  EXPECT_EQ(holder(), "");
}

TEST_F(ElectionTest, AStopBeforeTheElectionIsCleanToo) {
  a.start();
  world.loop.run_for(1s);
  b.start();
  world.loop.run_for(1s);
  b.election.stop();
  world.loop.run_for(10ms);
  ASSERT_TRUE(b.outcome);
  EXPECT_TRUE(*b.outcome);
  EXPECT_TRUE(a.election.leading());
}

TEST_F(ElectionTest, ACrashedLeaderIsFollowedAfterItsLease) {
  a.start();
  world.loop.run_for(1s);
  b.start();
  world.loop.run_for(10s);
  const auto crashed_at = b.runtime.clock->now();
  world.loop.crash("a");
  world.loop.run_for(14s);
  EXPECT_TRUE(b.led.empty());
  world.loop.run_for(8s);
  ASSERT_EQ(b.led.size(), 1u);
  EXPECT_EQ(b.led[0].handover, Handover::kExpired);
  EXPECT_EQ(b.led[0].old_lease, 15s);
  EXPECT_LE(b.led[0].last_sign, crashed_at + 5s);
  EXPECT_GE(b.led[0].quiet_from(30s), b.led[0].last_sign + 45s);
  EXPECT_GT(b.led[0].epoch, a.led[0].epoch);
}

TEST_F(ElectionTest, ALeaderThatCannotRenewStopsBeforeItsLeaseEnds) {
  a.start();
  world.loop.run_for(5s);
  const auto valid_until = a.election.valid_until();
  world.server.oracle = [](const net::Request&) { return FakeServer::Fate{.refused = true}; };
  while (!a.outcome) ASSERT_TRUE(world.loop.step());
  EXPECT_FALSE(a.working);
  EXPECT_FALSE(*a.outcome);
  EXPECT_LE(a.runtime.clock->now(), valid_until + 10ms);
  EXPECT_GE(a.runtime.clock->now(), valid_until - 10ms);
}

TEST_F(ElectionTest, AFrozenLeaderDoesNotActWhenItThaws) {
  a.start();
  world.loop.run_for(1s);
  b.start();
  world.loop.run_for(10s);
  world.loop.pause("a");
  world.loop.run_for(1min);
  EXPECT_TRUE(b.acts());
  world.loop.resume("a");
  EXPECT_FALSE(a.acts());
  world.loop.run_for(1s);
  EXPECT_FALSE(a.working);
  ASSERT_TRUE(a.outcome);
  EXPECT_FALSE(*a.outcome);
  EXPECT_TRUE(b.acts());
}

TEST_F(ElectionTest, ClocksNeedNotAgree) {
  world.loop.set_wall_offset("b", 24h * 365);
  a.start();
  world.loop.run_for(1s);
  b.start();
  world.loop.run_for(2min);
  EXPECT_TRUE(a.election.leading());
  EXPECT_TRUE(b.led.empty());
}

TEST_F(ElectionTest, ALostAnswerDoesNotCostTheLease) {
  int writes = 0;
  world.server.oracle = [&](const net::Request& request) {
    const bool write = request.method != "GET";
    return FakeServer::Fate{.answer_lost = write && ++writes % 2 == 1};
  };
  a.start();
  world.loop.run_for(10min);
  EXPECT_TRUE(a.election.leading());
  ASSERT_EQ(a.led.size(), 1u);
  EXPECT_EQ(a.led[0].handover, Handover::kCreated);
  EXPECT_GT(writes, 100);
}

TEST_F(ElectionTest, WhatWasWrittenCountsFromWhenItWasSentEvenIfTheAnswerIsLost) {
  a.start();
  world.loop.run_for(1s);
  world.server.oracle = [](const net::Request& request) {
    return FakeServer::Fate{.answer_lost = request.method != "GET"};
  };
  world.loop.run_for(9s);
  const auto now = a.runtime.clock->now();
  EXPECT_TRUE(a.election.leading());
  EXPECT_LE(a.election.valid_until(), now + 10s);
}

TEST_F(ElectionTest, EpochsGrowWhenElectionsFollowFasterThanTheClock) {
  world.loop.set_wall_offset("b", -24h * 365);
  a.work_ends = b.work_ends = Monotonic{};
  std::int64_t last = 0;
  for (int i = 0; i < 4; ++i) {
    auto& replica = i % 2 ? b : a;
    replica.start();
    while (!replica.outcome) ASSERT_TRUE(world.loop.step());
    EXPECT_GT(replica.led.back().epoch, last);
    last = replica.led.back().epoch;
  }
}

TEST_F(ElectionTest, ADeletedLeaseEndsTheLeaderAndTheNextOneWaits) {
  a.start();
  world.loop.run_for(1s);
  b.start();
  world.loop.run_for(5s);
  ASSERT_TRUE(a.election.leading());
  world.server.erase(kCollection, kLease.ns, kLease.name);
  world.loop.run_for(5s);
  ASSERT_TRUE(a.outcome);
  EXPECT_FALSE(*a.outcome);
  ASSERT_EQ(b.led.size(), 1u);
  EXPECT_EQ(b.led[0].handover, Handover::kCreated);
  EXPECT_GT(b.led[0].epoch, a.led[0].epoch);
  EXPECT_FALSE(b.acts());
  world.loop.run_for(15s);
  EXPECT_TRUE(b.acts());
}

TEST_F(ElectionTest, AnEmptiedLeaseIsNoCleanHandover) {
  world.server.put(kCollection, kLease.ns, kLease.name,
                   {{"spec", {{"holderIdentity", ""}, {"leaseTransitions", 7}}}});
  a.start();
  world.loop.run_for(1s);
  ASSERT_EQ(a.led.size(), 1u);
  EXPECT_EQ(a.led[0].handover, Handover::kCreated);
}

TEST_F(ElectionTest, AForeignLeaseIsTakenOnceItStandsStill) {
  world.server.put(kCollection, kLease.ns, kLease.name,
                   {{"spec", {{"holderIdentity", "somebody"}, {"leaseDurationSeconds", 1}}}});
  a.start();
  world.loop.run_for(14s);
  EXPECT_TRUE(a.led.empty());  // however short it says it is
  world.loop.run_for(10s);
  ASSERT_EQ(a.led.size(), 1u);
  EXPECT_EQ(a.led[0].handover, Handover::kExpired);
}

TEST_F(ElectionTest, KeepsWhatOthersWroteOnTheLease) {
  world.server.put(kCollection, kLease.ns, kLease.name,
                   {{"metadata", {{"labels", {{"team", "x"}}}}}, {"spec", json::Object()}});
  a.start();
  world.loop.run_for(10s);
  const json::Value* lease = world.server.find(kCollection, kLease.ns, kLease.name);
  EXPECT_EQ(json::text_or(*lease, "/metadata/labels/team", ""), "x");
}

TEST_F(ElectionTest, ACancelledElectionReleasesNothing) {
  a.start();
  world.loop.run_for(5s);
  a.group.cancel();
  world.loop.run_for(1s);
  ASSERT_TRUE(a.outcome);
  EXPECT_EQ(a.outcome->error().code(), Code::kCancelled);
  EXPECT_EQ(holder(), a.election.identity());
  EXPECT_FALSE(a.working);
}

// Three replicas under random delays, losses, refusals, crashes, pauses, stops and deletions of the
// Lease: at no moment may two act, and the epochs of those who led grow in the order of election.
void try_election(std::uint64_t seed) {
  FakeWorld world(seed);
  auto& random = *world.loop.actor("chance").random;
  std::vector<std::unique_ptr<Replica>> replicas;
  for (const char* name : {"a", "b", "c"}) {
    replicas.push_back(std::make_unique<Replica>(world, name));
    replicas.back()->start();
  }
  const CrashAtEnd crash_at_end{world.loop};
  // A deleted Lease is outgrown by the clock alone, so then clocks have to agree.
  const bool deletions = random.below(2) == 0;
  bool rough = false;
  world.server.oracle = [&](const net::Request&) {
    FakeServer::Fate fate;
    if (!rough) return fate;
    fate.refused = random.below(6) == 0;
    fate.answer_lost = random.below(4) == 0;
    fate.before = std::chrono::milliseconds(random.below(6000));
    fate.after = std::chrono::milliseconds(random.below(6000));
    return fate;
  };
  std::vector<std::pair<Monotonic, std::int64_t>> elections;  // those that came to act
  std::map<std::string, std::int64_t> acting;                 // replica -> epoch
  const auto check = [&] {
    int at_once = 0;
    for (const auto& replica : replicas) {
      if (!replica->acts()) continue;
      ++at_once;
      const auto& leadership = *replica->election.leadership();
      if (acting[replica->name] == leadership.epoch) continue;
      acting[replica->name] = leadership.epoch;
      if (!elections.empty()) EXPECT_GT(leadership.epoch, elections.back().second);
      elections.emplace_back(leadership.elected_at, leadership.epoch);
    }
    EXPECT_LE(at_once, 1);
  };
  const auto run_for = [&](Duration time) {
    const Monotonic end = world.here.clock->now() + time;
    while (world.here.clock->now() < end && world.loop.step()) check();
  };

  for (int i = 0; i < 20; ++i) {
    auto& replica = replicas[random.below(replicas.size())];
    const std::string name = replica->name;
    switch (random.below(7)) {
      case 0:  // the process dies and is started again
        world.loop.crash(name);
        replica = std::make_unique<Replica>(world, name);
        replica->start();
        break;
      case 1:
        world.loop.pause(name);
        run_for(std::chrono::milliseconds(random.below(40000)));
        world.loop.resume(name);
        break;
      case 2:
        replica->election.stop();
        run_for(30s);
        world.loop.crash(name);
        replica = std::make_unique<Replica>(world, name);
        replica->start();
        break;
      case 3:
        if (deletions && random.below(3) == 0)
          world.server.erase(kCollection, kLease.ns, kLease.name);
        break;
      case 4:
        if (!deletions) world.loop.set_wall_offset(name, std::chrono::minutes(random.below(120)));
        break;
      default:
        rough = !rough;
    }
    for (auto& one : replicas)
      if (one->outcome) one->start();  // an operator that lost is restarted
    run_for(std::chrono::milliseconds(random.below(40000)));
  }
  rough = false;
  for (auto& one : replicas)
    if (one->outcome) one->start();
  run_for(2min);
  const auto leading =
      std::count_if(replicas.begin(), replicas.end(), [](auto& one) { return one->acts(); });
  EXPECT_EQ(leading, 1);
}

TEST(ElectionProperty, NeverTwoAtOnce) { for_seeds(8, try_election); }

}  // namespace
}  // namespace quorate::kube

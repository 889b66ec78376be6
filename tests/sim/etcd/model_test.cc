// The simulated etcd beyond the facts: calls, faults, time, and that a seed is a seed.

#include <gmock/gmock.h>

#include "rt/group.h"
#include "tests/sim/etcd/history.h"
#include "tests/sim/etcd/lab_test.h"
#include "tests/sim/etcd/truth.h"

namespace quorate::etcdsim {
namespace {

using etcd::Reason;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SimModel : public ::testing::Test {
 protected:
  Lab lab;
};

TEST_F(SimModel, AQuietClusterHasNoEvents) {
  TestCluster cluster(lab, "3.6.16", 3);
  lab.pass(30s);
  const auto before = lab.world.events();
  lab.pass(1h);
  EXPECT_EQ(lab.world.events(), before);
  must(lab.put(cluster[1].target(), "k", "v"));
}

TEST_F(SimModel, ALostAnswerIsUnknownAndTheWriteIsThere) {
  TestCluster cluster(lab, "3.6.16", 1);
  auto target = cluster[0].target();
  lab.world.network().lose_answers("client", "m0", 1);
  EXPECT_EQ(refused(lab.put(target, "k", "v", 1s), Code::kUnknownOutcome), Reason::kNone);
  EXPECT_EQ(must(lab.get(target, "k")), "v");

  lab.world.network().lose_answers("client", "m0", 1);
  auto lost = lab.run(lab.api.add_learner(target, {"http://x:9"}, lab.within(1s)));
  EXPECT_EQ(refused(lost, Code::kUnknownOutcome), Reason::kNone);
  EXPECT_TRUE(must(lab.list(target)).find_by_peer_urls({"http://x:9"}));
}

TEST_F(SimModel, AReadWhoseAnswerIsLostIsUnavailable) {
  TestCluster cluster(lab, "3.6.16", 1);
  lab.world.network().lose_answers("client", "m0", 1);
  auto read = lab.run(lab.api.status(cluster[0].target(), lab.within(1s)));
  EXPECT_EQ(refused(read, Code::kUnavailable), Reason::kNone);
}

TEST_F(SimModel, AStoppedMemberHangsUntilTheDeadlineAndCatchesUp) {
  TestCluster cluster(lab, "3.6.16", 3);
  const std::size_t victim = (cluster.leader() + 1) % 3, other = (victim + 1) % 3;
  cluster[victim].process().pause();
  EXPECT_EQ(
      refused(lab.put(cluster[victim].target(), "k", "stopped", 500ms), Code::kUnknownOutcome),
      Reason::kNone);
  auto status = lab.run(lab.api.status(cluster[victim].target(), lab.within(500ms)));
  EXPECT_EQ(refused(status, Code::kTimeout), Reason::kNone)
      << "on a new connection nothing is sent";
  must(lab.put(cluster[other].target(), "other", "v"));
  cluster[victim].process().resume();
  lab.eventually(20s, "the member is back", [&] {
    auto read = lab.get(cluster[victim].target(), "other");
    return read && *read == "v";
  });
}

TEST_F(SimModel, ALeaderCutOffStepsDownAndAnotherIsElected) {
  TestCluster cluster(lab, "3.6.16", 3);
  const std::size_t old = cluster.leader(), other = (old + 1) % 3;
  lab.world.network().isolate(cluster[old].name());
  lab.eventually(10s, "the others have a leader of their own", [&] {
    auto status = lab.status(cluster[other].target());
    return status && status->leader && *status->leader != cluster[old].process().member()->id();
  });
  must(lab.put(cluster[other].target(), "k", "v"));
  lab.pass(5s);
  EXPECT_FALSE(cluster[old].process().member()->raft().leads());
  lab.world.network().heal_all();
  lab.eventually(10s, "it follows", [&] {
    auto read = lab.get(cluster[old].target(), "k");
    return read && *read == "v";
  });
}

TEST_F(SimModel, AWriteThatEtcdGivesUpOnIsUnknown) {
  TestCluster cluster(lab, "3.6.16", 3, {"--election-timeout=5000"});
  const std::size_t leader = cluster.leader();
  for (std::size_t i = 0; i < 3; ++i)
    if (i != leader) cluster[i].process().pause();
  auto result = lab.put(cluster[leader].target(), "k", "v", 200s);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kUnknownOutcome);
  EXPECT_THAT(etcd::reason(result.error()),
              ::testing::AnyOf(Reason::kTimeout, Reason::kTimeoutConnectionLost));
}

TEST_F(SimModel, AFullDatabaseRefusesWritesUntilItIsTidiedAndDisarmed) {
  TestCluster cluster(lab, "3.6.16", 1, {"--quota-backend-bytes=8388608"});
  auto target = cluster[0].target();
  Result<etcd::Header> written = etcd::Header{};
  for (int i = 0; i < 40 && written; ++i)
    written = lab.put(target, "fill", std::string(500'000, 'x'));
  EXPECT_EQ(refused(written, Code::kUnavailable), Reason::kNoSpace);
  auto status = must(lab.status(target));
  EXPECT_FALSE(status.errors.empty());
  etcd::Alarm alarm{status.header.member, etcd::AlarmKind::kNoSpace};
  EXPECT_THAT(must(lab.run(lab.api.alarms(target, lab.within(5s)))), ElementsAre(alarm));
  EXPECT_EQ(cluster[0].process().probe("/health"), 503);

  must(lab.run(lab.api.compact(target, {status.header.revision, true}, lab.within(5s))));
  must(lab.run(lab.api.defragment(target, lab.within(60s))));
  EXPECT_LT(must(lab.status(target)).db_size, status.db_size);
  must(lab.run(lab.api.disarm(target, alarm, lab.within(5s))));
  must(lab.put(target, "fill", "v"));
}

TEST_F(SimModel, WithAuthenticationOnStrangersAreForbidden) {
  TestCluster cluster(lab, "3.6.16", 1);
  auto target = cluster[0].target();
  auto change = [&](AuthChange what) {
    must(lab.run(lab.api.change_auth(target, std::move(what), lab.within(5s))));
  };
  change({AuthChange::Kind::kAddUser, "root", "", "secret", {}});
  change({AuthChange::Kind::kGrantRole, "root", "root", "", {}});
  change({AuthChange::Kind::kEnable, "", "", "", {}});
  EXPECT_EQ(refused(lab.put(target, "k", "v"), Code::kForbidden), Reason::kAuthUserEmpty);
  EXPECT_EQ(refused(lab.get(target, "k"), Code::kForbidden), Reason::kAuthUserEmpty);
  EXPECT_EQ(refused(lab.run(lab.api.defragment(target, lab.within(5s))), Code::kForbidden),
            Reason::kAuthUserEmpty);
  EXPECT_EQ(refused(lab.status(target), Code::kForbidden), Reason::kAuthUserEmpty);
}

TEST_F(SimModel, LeasesRunOutAtTheLeaderAndSurviveItsLoss) {
  TestCluster cluster(lab, "3.6.16", 3);
  auto target = cluster[0].target();
  auto lease = must(lab.run(lab.api.grant(target, {10s, {}}, lab.within(5s))));
  must(lab.run(lab.api.put(target, {"k", "v", lease.id, false}, lab.within(5s))));
  lab.pass(8s);
  EXPECT_EQ(must(lab.run(lab.api.keep_alive(target, lease.id, lab.within(5s)))).ttl, 10s);
  lab.pass(8s);
  EXPECT_EQ(must(lab.get(target, "k")), "v");
  const std::size_t leader = cluster.leader();
  cluster[leader].kill();
  auto left = cluster[(leader + 1) % 3].target();
  lab.pass(5s);
  EXPECT_EQ(must(lab.get(left, "k")), "v") << "the new leader counts anew";
  lab.pass(12s);
  EXPECT_EQ(must(lab.get(left, "k")), std::nullopt);
}

TEST_F(SimModel, AWatchSeesEveryChangeInOrderAndEndsWithItsMember) {
  TestCluster cluster(lab, "3.6.16", 3);
  auto watch = must(lab.run(lab.api.watch(
      cluster[1].target(), {etcd::KeyRange::prefix("w/"), {}, false, true}, lab.within(5s))));
  must(lab.put(cluster[0].target(), "w/a", "1"));
  must(lab.put(cluster[2].target(), "w/a", "2"));
  must(lab.put(cluster[2].target(), "x", "no"));
  auto first = must(lab.run(watch->read(lab.within(5s))));
  auto second = must(lab.run(watch->read(lab.within(5s))));
  ASSERT_EQ(first.events.size(), 1u);
  EXPECT_EQ(first.events[0].kv.value, "1");
  EXPECT_EQ(second.events.at(0).previous->value, "1");
  EXPECT_LT(first.header.revision, second.header.revision);
  cluster[1].kill();
  EXPECT_EQ(refused(lab.run(watch->read(lab.within(5s))), Code::kUnavailable), Reason::kNone);
}

TEST_F(SimModel, AMemberFarBehindGetsASnapshot) {
  TestCluster cluster(lab, "3.6.16", 3, {"--snapshot-count=20"});
  const std::size_t victim = (cluster.leader() + 1) % 3, other = (victim + 1) % 3;
  cluster[victim].kill();
  for (int i = 0; i < 100; ++i) must(lab.put(cluster[other].target(), fmt::format("k{}", i), "v"));
  EXPECT_GT(cluster[other].volume().data.formed->log.first_index(), 20u);
  cluster[victim].start();
  cluster[victim].wait_healthy();
  EXPECT_EQ(must(lab.get(cluster[victim].target(), "k0")), "v");
  EXPECT_GT(cluster[victim].volume().data.formed->log.first_index(), 20u);
}

TEST_F(SimModel, ADiskThatIsFullOrDamagedEndsEtcd) {
  TestCluster cluster(lab, "3.6.16", 3);
  const std::size_t victim = (cluster.leader() + 1) % 3, other = (victim + 1) % 3;
  cluster[victim].volume().full = true;
  must(lab.put(cluster[other].target(), "k", "v"));
  EXPECT_EQ(cluster[victim].wait_for_exit().code, 1);
  cluster[victim].volume().full = false;
  cluster[victim].volume().damage(Damage::kLog);
  cluster[victim].start();
  EXPECT_EQ(cluster[victim].wait_for_exit().code, 1);
  cluster[victim].volume().damage(Damage::kDatabase);
  cluster[victim].start();
  EXPECT_EQ(cluster[victim].wait_for_exit().code, 2);
}

// An emptied member that comes back while the leader still counts on what it once had.
TEST_F(SimModel, AnEmptiedMemberPanicsUnderTheSameLeader) {
  TestCluster cluster(lab, "3.6.16", 3);
  const std::size_t victim = (cluster.leader() + 1) % 3;
  must(lab.put(cluster[0].target(), "k", "v"));
  cluster[victim].kill();
  cluster[victim].wipe();
  cluster[victim].set_initial_cluster(cluster.initial_cluster(), "existing");
  cluster[victim].start();
  EXPECT_EQ(cluster[victim].wait_for_exit().code, 2);
  EXPECT_THAT(cluster[victim].process().exit()->log, ::testing::HasSubstr("out of range"));
}

TEST_F(SimModel, APromotionThatAnOldReleaseForgotComesBackAtTheUpgrade) {
  TestCluster cluster(lab, "3.5.20", 1);
  TestMember& joined = cluster.grow();
  EXPECT_EQ(must(lab.list(cluster[0].target())).voters(), 2u);
  for (auto* member : {&cluster[0], &joined}) {
    member->kill();
    member->set_version("3.6.16");
    member->start();
  }
  cluster[0].wait_healthy();
  EXPECT_EQ(must(lab.list(cluster[0].target())).voters(), 1u) << "the database never knew";
}

TEST_F(SimModel, TheTruthIsReadFromDirectories) {
  TestCluster cluster(lab, "3.6.16", 3);
  must(lab.put(cluster[0].target(), "k", "v"));
  auto id = must(lab.status(cluster[0].target())).header.cluster;
  Truth truth(lab.world);
  EXPECT_THAT(truth.clusters(), ElementsAre(id));
  auto seen = truth.look_at(id);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->voters_in_sync(), 3u);
  EXPECT_TRUE(seen->leader);
  EXPECT_FALSE(truth.is_split(id));
  cluster[0].kill();
  cluster[1].kill();
  lab.pass(5s);
  EXPECT_FALSE(truth.look_at(id)->has_quorum());
  EXPECT_EQ(truth.readable(id, "k"), "v");
  EXPECT_THAT(truth.amnesiacs(), IsEmpty());
  cluster[0].wipe();
  cluster[0].start();  // new, and m2 answers that it was bootstrapped: it ends
  cluster[0].wait_for_exit();
  EXPECT_THAT(truth.ever_served(), ElementsAre(id));
}

// Kills, stops, cuts and lost messages among three members with clients: no acknowledged write is
// lost, no read goes back, and the same seed gives the same steps.
class SimCampaign : public ::testing::TestWithParam<int> {
 protected:
  struct Result {
    std::uint64_t hash = 0;
    std::size_t acknowledged = 0;
    std::vector<std::string> violations;
  };
  static Result play(std::uint64_t seed) {
    Lab lab(seed);
    const auto& version = versions()[seed % versions().size()];
    TestCluster cluster(lab, version, 3);
    SimEtcd api(lab.world, lab.loop.actor("clients"), "clients");
    History history;
    RecordingClient one(api, lab.loop.actor("clients"), history, "one");
    RecordingClient two(api, lab.loop.actor("clients"), history, "two");
    rt::TaskGroup group(lab.loop.actor("clients"));
    auto targets = [&] {
      return std::vector{cluster[0].target(), cluster[1].target(), cluster[2].target()};
    };
    group.spawn("one", one.run(targets, 50ms, 1s));
    group.spawn("two", two.run(targets, 70ms, 1s));
    rt::Random& random = lab.world.random();
    for (int round = 0; round < 30; ++round) {
      TestMember& victim = cluster[random.below(3)];
      switch (random.below(5)) {
        case 0:
          victim.running() ? victim.kill() : victim.start();
          break;
        case 1:
          if (victim.running()) victim.process().pause();
          break;
        case 2:
          if (victim.running()) victim.process().resume();
          break;
        case 3:
          lab.world.network().isolate(victim.name());
          break;
        default:
          lab.world.network().heal_all();
          lab.world.network().set_loss(victim.name(), cluster[random.below(3)].name(), 200);
      }
      lab.pass(lab.world.between(100ms, 5s));
    }
    lab.world.network().heal_all();
    for (std::size_t i = 0; i < 3; ++i) {
      if (!cluster[i].running()) cluster[i].start();
      cluster[i].process().resume();
    }
    for (std::size_t i = 0; i < 3; ++i) cluster[i].wait_healthy(60s);
    lab.pass(5s);
    Result result;
    result.acknowledged = history.acknowledged();
    result.violations = history.check();
    for (std::size_t i = 0; i < 3; ++i) {
      auto lost = history.broken_promises(
          [&](const std::string& key) { return must(lab.get(cluster[i].target(), key)); });
      result.violations.insert(result.violations.end(), lost.begin(), lost.end());
    }
    result.hash = lab.loop.trace_hash();
    lab.loop.crash("clients");
    return result;
  }
};

TEST_P(SimCampaign, KeepsWhatWasAcknowledgedUnderFaults) {
  const auto seed = static_cast<std::uint64_t>(GetParam());
  auto first = play(seed);
  EXPECT_THAT(first.violations, IsEmpty());
  EXPECT_GT(first.acknowledged, 20u);
  if (seed % 4 != 0) return;
  EXPECT_EQ(play(seed).hash, first.hash) << "the same seed, the same steps";
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimCampaign, ::testing::Range(1, 13));

}  // namespace
}  // namespace quorate::etcdsim

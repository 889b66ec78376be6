// What is known of etcd as a process, on simulated ones: versions, flags, probes, certificates,
// partitions. The mirror of the tests of the same names on real ones.

#include <gmock/gmock.h>

#include "etcd/witness.h"
#include "pki/authority.h"
#include "pki/key.h"
#include "tests/sim/etcd/lab_test.h"

namespace quorate::etcdsim {
namespace {

using etcd::Reason;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class SimProcessFacts : public OnEachVersion {
 protected:
  static constexpr int kOk = 200;
};

class SimUpgradeFacts : public SimProcessFacts {};

TEST_P(SimUpgradeFacts, E13AMemberMayGoBackUntilTheClusterVersionHasMoved) {
  auto next = *(std::ranges::find(versions(), version()) + 1);
  TestCluster cluster(lab, version(), 3);
  auto cluster_minor = [&] { return cluster[1].process().member()->cluster_minor(); };
  auto run_as = [&](std::size_t i, const std::string& program) {
    cluster[i].kill();
    cluster[i].set_version(program);
    cluster[i].start();
    cluster[i].wait_healthy();
    EXPECT_EQ(must(lab.status(cluster[i].target())).version, program);
  };
  const int old_minor = Version::parse(version())->minor;
  lab.eventually(20s, "the cluster version is set", [&] { return cluster_minor() == old_minor; });

  run_as(0, next);
  lab.pass(10s);
  EXPECT_EQ(cluster_minor(), old_minor);
  run_as(0, version());
  must(lab.put(cluster[0].target(), "back", "v"));

  for (std::size_t i = 0; i < 3; ++i) run_as(i, next);
  lab.eventually(30s, "the cluster version has moved",
                 [&] { return cluster_minor() == old_minor + 1; });
  cluster[0].kill();
  cluster[0].set_version(version());
  cluster[0].start();
  EXPECT_EQ(cluster[0].wait_for_exit().code, 1);
  EXPECT_THAT(cluster[0].process().exit()->log,
              AnyOf(HasSubstr("invalid downgrade"), HasSubstr("is not supported")));
}

TEST_P(SimProcessFacts, E17AQuorumReadDoesNotProveThatTheOthersCanMeet) {
  TestCluster cluster(lab, version(), 3);
  const std::size_t a = cluster.leader(), b = (a + 1) % 3, c = (a + 2) % 3;
  lab.world.network().cut(cluster[b].name(), cluster[c].name());
  lab.pass(3s);
  ASSERT_EQ(cluster.leader(), a);
  must(lab.put(cluster[a].target(), "k", "v"));
  const MemberId leader = cluster.id_of(a);
  for (std::size_t i = 0; i < 3; ++i) {
    auto seen = must(lab.run(etcd::witness(lab.api, cluster[i].target(), lab.within(5s))));
    EXPECT_EQ(seen.leader, leader) << "all is well, by every quorum read";
  }
  cluster[a].kill();
  auto leaderless = [&] {
    return !must(lab.status(cluster[b].target())).leader &&
           !must(lab.status(cluster[c].target())).leader;
  };
  lab.eventually(10s, "they miss their leader", leaderless);
  lab.stays(10s, "they form no quorum", leaderless);
  lab.world.network().heal_all();
  lab.eventually(10s, "until they meet", [&] { return cluster[b].healthy(); });
}

TEST_P(SimProcessFacts, E18ABadFlagEndsEtcdBeforeAnythingIsOnDisk) {
  TestCluster cluster(lab, version(), 1);
  cluster[0].kill();
  cluster[0].wipe();
  cluster[0].set_flags({"--no-such-flag"});
  cluster[0].start();
  EXPECT_EQ(cluster[0].wait_for_exit().code, 2);
  EXPECT_EQ(cluster[0].volume().data.folder(), datadir::Folder::kEmpty);
}

TEST_P(SimProcessFacts, E19ProbesOnTheMetricsPort) {
  TestCluster cluster(lab, version(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    cluster[i].kill();
    cluster[i].wipe();
  }
  const int live = at_least(5) ? kOk : 404;
  auto probe = [&](std::size_t i, const char* path) { return cluster[i].process().probe(path); };
  cluster[0].start();
  lab.eventually(20s, "the metrics port answers", [&] { return probe(0, "/livez") == live; });
  EXPECT_NE(probe(0, "/health"), kOk);
  EXPECT_NE(probe(0, "/readyz"), kOk);
  cluster[1].start();
  cluster[0].wait_healthy();
  EXPECT_EQ(probe(0, "/livez"), live);
  EXPECT_EQ(probe(0, "/readyz"), live);
  cluster[1].kill();
  lab.eventually(20s, "it is not healthy", [&] { return probe(0, "/health") != kOk; });
  EXPECT_EQ(probe(0, "/livez"), live);
  EXPECT_NE(probe(0, "/readyz"), kOk);
}

TEST_P(SimProcessFacts, E19ProbesOfALearnerAndDuringADefragmentation) {
  TestCluster cluster(lab, version(), 1);
  TestMember& learner = cluster.add_member();
  cluster.add_learner_eventually(learner);
  learner.start();
  lab.eventually(20s, "the learner is healthy",
                 [&] { return learner.process().probe("/health") == kOk; });
  EXPECT_EQ(learner.process().probe("/livez"), at_least(5) ? kOk : 404);
  EXPECT_NE(learner.process().probe("/readyz"), kOk);

  for (int i = 0; i < 20; ++i)
    must(lab.put(cluster[0].target(), fmt::format("{}", i), std::string(1'000'000, 'x')));
  const Monotonic before = lab.world.now();
  must(lab.run(lab.api.defragment(cluster[0].target(), lab.within(60s))));
  EXPECT_GT(lab.world.now() - before, 100ms) << "the member answers nobody meanwhile";
  EXPECT_EQ(cluster[0].process().probe("/health"), kOk);
}

// ---- What 3.4 leaves in the log ----

TEST(SimOldStore, AQuestionAboutHealthIn34Ends36UntilASnapshotIsBehindIt) {
  Lab lab;
  TestCluster cluster(lab, "3.4.23", 1, {"--snapshot-count=10"});
  auto restart_as = [&](const char* version) {
    cluster[0].kill();
    cluster[0].set_version(version);
    cluster[0].start();
  };
  EXPECT_EQ(cluster[0].process().probe("/health"), 200);
  lab.pass(1s);
  restart_as("3.5.35");
  cluster[0].wait_healthy();
  restart_as("3.6.16");
  EXPECT_EQ(cluster[0].wait_for_exit().code, 2);
  EXPECT_THAT(cluster[0].wait_for_exit().log, HasSubstr("disallowed v2 WAL"));
  restart_as("3.5.35");
  cluster[0].wait_healthy();
  for (int i = 0; i < 12; ++i) must(lab.put(cluster[0].target(), "k", "v"));
  restart_as("3.6.16");
  cluster[0].wait_healthy();
}

TEST(SimOldStore, NobodyWasAskedAboutHealthAnd36Starts) {
  Lab lab;
  TestCluster cluster(lab, "3.4.23", 1);
  for (const char* version : {"3.5.35", "3.6.16"}) {
    cluster[0].kill();
    cluster[0].set_version(version);
    cluster[0].start();
    cluster[0].wait_healthy();
  }
}

// ---- Certificates ----

// Files that members read, and an authority that makes them.
class Certificates {
 public:
  explicit Certificates(Lab& lab) : lab_(lab) {}

  pki::Authority authority(const std::string& name) {
    return must(pki::Authority::make(keys_, name, validity()));
  }
  pki::Identity leaf(const pki::Authority& authority, const std::string& cn, pki::Names names) {
    const auto purpose = names.dns.empty() ? pki::Purpose::kClient : pki::Purpose::kBoth;
    return must(authority.issue(keys_, {cn, {}, std::move(names), purpose, validity()}));
  }
  pki::Validity validity() const {
    auto now = lab_.world.runtime().clock->wall();
    return {now - 1h, now + 24h * 365};
  }
  std::map<std::string, std::string> files;

 private:
  Lab& lab_;
  pki::SeededKeys keys_{1};
};

TEST_P(SimProcessFacts, E21LeavesAreReadAgainAndAuthoritiesAreNot) {
  Certificates certificates(lab);
  auto old_ca = certificates.authority("old"), new_ca = certificates.authority("new");
  const pki::Names names{{"m0"}, {}, {}};
  auto install = [&](const pki::Authority& ca) {
    auto leaf = certificates.leaf(ca, "etcd", names);
    certificates.files["server.crt"] = leaf.certificate_pem();
    certificates.files["server.key"] = leaf.key.pem().reveal();
    certificates.files["ca.crt"] = ca.certificate().pem();
  };
  install(old_ca);
  LaunchSpec spec;
  spec.version = *Version::parse(version());
  spec.argv = {"etcd",
               "--name=m0",
               "--listen-client-urls=https://0.0.0.0:2379",
               "--advertise-client-urls=https://m0:2379",
               "--listen-peer-urls=http://0.0.0.0:2380",
               "--initial-advertise-peer-urls=http://m0:2380",
               "--initial-cluster=m0=http://m0:2380",
               "--client-cert-auth",
               "--cert-file=server.crt",
               "--key-file=server.key",
               "--trusted-ca-file=ca.crt"};
  spec.volume = std::make_shared<Volume>();
  spec.site = "m0";
  spec.hosts = {"m0"};
  spec.read_file = [&](const std::string& path) -> std::optional<std::string> {
    auto found = certificates.files.find(path);
    return found == certificates.files.end() ? std::nullopt : std::optional(found->second);
  };
  auto process = lab.world.launch(spec);
  lab.pass(2s);
  auto as = [&](const pki::Authority& trusted, const pki::Authority& own) {
    auto client = certificates.leaf(own, "test", {});
    etcd::Target target{.endpoint = "https://m0:2379"};
    target.identity = etcd::make_identity(
        {trusted.certificate().pem(), client.certificate_pem(), client.key.pem()});
    return lab.status(target);
  };
  must(as(old_ca, old_ca));
  install(new_ca);
  EXPECT_TRUE(as(new_ca, old_ca).has_value()) << "it shows the new leaf";
  EXPECT_EQ(as(new_ca, new_ca).error().code(), Code::kForbidden) << "and trusts the old authority";

  process->kill();
  lab.pass(100ms);
  process = lab.world.launch(spec);
  lab.pass(2s);
  EXPECT_TRUE(as(new_ca, new_ca).has_value());
  EXPECT_EQ(as(new_ca, old_ca).error().code(), Code::kForbidden);
}

TEST_P(SimProcessFacts, E20PeersByNameNeedAFlagThatDependsOnTheVersion) {
  Certificates certificates(lab);
  auto ca = certificates.authority("peers");
  auto leaf = certificates.leaf(ca, "etcd", {{"*.peers.test"}, {}, {}});
  certificates.files = {{"peer.crt", leaf.certificate_pem()},
                        {"peer.key", leaf.key.pem().reveal()},
                        {"ca.crt", ca.certificate().pem()}};
  std::vector<std::shared_ptr<EtcdProcess>> processes;
  int round = 0;
  auto start = [&](std::vector<std::string> flags) {
    for (auto& process : processes) process->kill();
    processes.clear();
    lab.pass(10ms);
    ++round;
    for (int i = 0; i < 3; ++i) {
      LaunchSpec spec;
      spec.version = *Version::parse(version());
      auto url = [&](int k) { return fmt::format("https://m{}.peers.test:2380", k); };
      spec.argv = {"etcd",
                   fmt::format("--name=m{}", i),
                   "--listen-client-urls=http://0.0.0.0:2379",
                   fmt::format("--advertise-client-urls=http://m{}.peers.test:2379", i),
                   "--listen-peer-urls=https://0.0.0.0:2380",
                   "--initial-advertise-peer-urls=" + url(i),
                   fmt::format("--initial-cluster=m0={},m1={},m2={}", url(0), url(1), url(2)),
                   "--peer-client-cert-auth",
                   "--peer-cert-file=peer.crt",
                   "--peer-key-file=peer.key",
                   "--peer-trusted-ca-file=ca.crt"};
      spec.argv.insert(spec.argv.end(), flags.begin(), flags.end());
      spec.volume = std::make_shared<Volume>();
      spec.site = fmt::format("m{}", i);
      spec.hosts = {fmt::format("m{}.peers.test", i), fmt::format("10.0.{}.{}", round, i)};
      spec.read_file = [&](const std::string& path) -> std::optional<std::string> {
        auto found = certificates.files.find(path);
        return found == certificates.files.end() ? std::nullopt : std::optional(found->second);
      };
      processes.push_back(lab.world.launch(std::move(spec)));
    }
  };
  const etcd::Target m0{.endpoint = "http://m0.peers.test:2379"};
  start({});
  lab.stays(10s, "peers refuse each other", [&] { return processes[0]->probe("/health") != kOk; });
  auto forms = [&](const std::string& flag) {
    start({flag});
    lab.eventually(30s, "it forms with " + flag,
                   [&] { return processes[0]->probe("/health") == kOk; });
    must(lab.put(m0, "k", "v"));
  };
  auto exits = [&](const std::string& flag) {
    start({flag});
    lab.eventually(10s, "it exits with " + flag, [&] { return processes[0]->exit().has_value(); });
    EXPECT_EQ(processes[0]->exit()->code, 2);
  };
  const std::string old_flag = "--experimental-peer-skip-client-san-verification";
  const std::string new_flag = "--peer-skip-client-san-verification";
  at_least(7) ? exits(old_flag) : forms(old_flag);
  at_least(6) ? forms(new_flag) : exits(new_flag);
}

INSTANTIATE_TEST_SUITE_P(EachButTheNewest, SimUpgradeFacts,
                         ::testing::ValuesIn(versions().begin(), versions().end() - 1),
                         [](const auto& info) {
                           std::string text = "v" + info.param;
                           std::ranges::replace(text, '.', '_');
                           return text;
                         });
INSTANTIATE_TEST_SUITE_P(Each, SimProcessFacts, ::testing::ValuesIn(versions()),
                         [](const auto& info) {
                           std::string text = "v" + info.param;
                           std::ranges::replace(text, '.', '_');
                           return text;
                         });

}  // namespace
}  // namespace quorate::etcdsim

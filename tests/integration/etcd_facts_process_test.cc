// What is known of etcd as a process: versions, flags, probes, certificates, partitions. Each test
// is named after its fact: one that fails says that a version behaves differently from what the
// operator's design assumes.

#include "etcd/witness.h"
#include "rt/group.h"
#include "tests/integration/etcd_harness.h"
#include "tests/support/http_get.h"
#include "tests/support/parts.h"
#include "tests/support/temp_dir.h"

namespace quorate::etcd {
namespace {

namespace fs = std::filesystem;
using support::http_get;
using support::KeyPair;
using support::Leaf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class EtcdProcessFacts : public OnEachVersion {
 protected:
  rt::Deadline soon() { return caller.within(10s); }
  Api& api() { return caller.api(); }
  MemberId id_of(EtcdCluster& cluster, std::size_t index) {
    return must(caller.status(target_of(cluster, cluster[index]))).header.member;
  }
  // The status of a probe on the metrics port; 0 if there was no answer in time.
  static int probe(const EtcdMember& member, const std::string& path,
                   std::chrono::milliseconds within = 1s) {
    auto answer = http_get(member.metrics(), path, within);
    return answer ? answer->status : 0;
  }
};

// The minor version that the cluster as a whole has agreed on.
std::string cluster_version(const EtcdMember& member) {
  auto answer = http_get(member.client(), "/version");
  if (!answer) return "";
  auto at = answer->body.find("\"etcdcluster\":\"");
  return at == std::string::npos ? "" : answer->body.substr(at + 15, 3);
}

class EtcdUpgradeFacts : public EtcdProcessFacts {};

// Consequence: the point of no return is the cluster version, not the last Pod.
TEST_P(EtcdUpgradeFacts, E13AMemberMayGoBackUntilTheClusterVersionHasMoved) {
  const auto& all = versions();
  auto next = std::ranges::find(all, version()) + 1;
  ASSERT_NE(next, all.end());
  EtcdOptions plain{
      version(), 3, EtcdSecurity::kPlain, {"--heartbeat-interval=50", "--election-timeout=500"}};
  EtcdCluster cluster(plain);
  const std::string old_minor = version().substr(0, 3), new_minor = next->substr(0, 3);
  auto run_as = [&](std::size_t i, const std::string& program) {
    caller.disconnect();
    cluster[i].kill();
    cluster[i].set_version(program);
    cluster[i].start();
    cluster[i].wait_healthy();
    EXPECT_EQ(must(caller.status(target_of(cluster, cluster[i]))).version, program);
  };
  eventually(20s, "the cluster version is set", [&] {
    return Look(cluster_version(cluster[0]) == old_minor, cluster_version(cluster[0]));
  });

  run_as(0, *next);
  EXPECT_EQ(cluster_version(cluster[1]), old_minor);
  run_as(0, version());
  must(caller.put(target_of(cluster, cluster[0]), "back", "v"));

  for (std::size_t i = 0; i < 3; ++i) run_as(i, *next);
  eventually(30s, "the cluster version has moved", [&] {
    return Look(cluster_version(cluster[0]) == new_minor, cluster_version(cluster[0]));
  });
  cluster[0].kill();
  cluster[0].set_version(version());
  cluster[0].start();
  EXPECT_FALSE(cluster[0].wait_for_exit(20s).ok());
  EXPECT_THAT(support::log_tail(cluster[0].log(), 80),
              AnyOf(HasSubstr("invalid downgrade"), HasSubstr("cluster cannot be downgraded"),
                    // Once the storage has followed the cluster, it is the file that is refused.
                    HasSubstr("is not supported\"")));
}

// Consequence: a quorum read does not prove that the others can do without the victim. It must not
// lead, and the others must have shown that they follow the same other leader.
TEST_P(EtcdProcessFacts, E17AQuorumReadDoesNotProveThatTheOthersCanMeet) {
  EtcdCluster cluster(options(3, EtcdSecurity::kMutualTls));
  auto restart_with = [&](std::size_t i, std::vector<std::string> more) {
    const std::string name(1, static_cast<char>('a' + i));
    auto pair = cluster.peer_authority().issue(
        name, {.common_name = name, .addresses = {support::own_address(), "127.0.0.1"}});
    std::vector<std::string> flags = {"--peer-cert-file=" + pair.certificate.string(),
                                      "--peer-key-file=" + pair.key.string()};
    flags.insert(flags.end(), more.begin(), more.end());
    caller.disconnect();
    cluster[i].kill();
    cluster[i].set_flags(flags);
    cluster[i].start();
    cluster[i].wait_healthy();
  };
  restart_with(0, {});
  auto a = target_of(cluster, cluster[0]);
  eventually(20s, "a leads", [&] {
    auto leader = leader_of(caller, cluster);
    if (leader != 0)
      (void)caller.run(
          api().move_leader(target_of(cluster, cluster[leader]), id_of(cluster, 0), soon()));
    return Look(leader == 0, cluster[leader].name());
  });
  // b and c accept peers by the name of a alone: the link between them is cut.
  restart_with(1, {"--peer-cert-allowed-cn=a"});
  restart_with(2, {"--peer-cert-allowed-cn=a"});
  ASSERT_EQ(leader_of(caller, cluster), 0u);

  must(caller.put(a, "k", "v"));
  for (std::size_t i = 0; i < 3; ++i) {
    auto seen = must(caller.run(witness(api(), target_of(cluster, cluster[i]), soon())));
    EXPECT_EQ(seen.leader, id_of(cluster, 0)) << "all is well, by every quorum read";
  }
  std::vector<Target> left = {target_of(cluster, cluster[1]), target_of(cluster, cluster[2])};
  cluster[0].kill();
  auto leaderless = [&] {
    return std::ranges::all_of(left, [&](const Target& each) {
      auto status = caller.status(each);
      return status && !status->leader;
    });
  };
  eventually(10s, "they miss their leader", [&] { return Look(leaderless(), "not yet"); });
  stays(3s, "b and c form no quorum", leaderless);
}

// Consequence: "it was started" does not mean "it had data".
TEST_P(EtcdProcessFacts, E18ABadFlagEndsEtcdBeforeAnythingIsOnDisk) {
  EtcdCluster cluster(options(1));
  cluster[0].kill();
  cluster[0].wipe_data();
  cluster[0].set_flags({"--no-such-flag"});
  cluster[0].start();
  auto status = cluster[0].wait_for_exit(10s);
  EXPECT_EQ(status.code, 2) << status.text();
  EXPECT_FALSE(fs::exists(cluster[0].data()));
}

// Consequence: liveness by TCP behind a startup probe; readiness by /readyz, before 3.5 by /health.
TEST_P(EtcdProcessFacts, E19ProbesOnTheMetricsPort) {
  EtcdCluster cluster(options(3));
  for (std::size_t i = 0; i < 3; ++i) {
    cluster[i].kill();
    cluster[i].wipe_data();
  }
  const bool has_livez = at_least("3.5");
  const int live = has_livez ? 200 : 404;
  auto eventually_live = [&](EtcdMember& member) {
    eventually(20s, "the metrics port answers", [&] {
      int status = probe(member, "/livez");
      return Look(status == live, std::to_string(status));
    });
  };
  // Before it has formed.
  cluster[0].start();
  eventually_live(cluster[0]);
  EXPECT_NE(probe(cluster[0], "/health"), 200);
  EXPECT_NE(probe(cluster[0], "/readyz"), 200);
  // Formed.
  cluster[1].start();
  cluster[0].wait_healthy();
  EXPECT_EQ(probe(cluster[0], "/livez"), live);
  EXPECT_EQ(probe(cluster[0], "/readyz"), live);
  // Without quorum.
  cluster[1].kill();
  eventually(20s, "it is not healthy", [&] { return Look(probe(cluster[0], "/health") != 200); });
  EXPECT_EQ(probe(cluster[0], "/livez"), live);
  EXPECT_NE(probe(cluster[0], "/readyz"), 200);
}

TEST_P(EtcdProcessFacts, E19ProbesOfALearnerAndUnderAuthentication) {
  EtcdCluster cluster(options(1));
  const bool has_livez = at_least("3.5");
  auto voter = target_of(cluster, cluster[0]);
  EtcdMember& learner = cluster.add_member();
  add_learner_eventually(caller, voter, learner);
  learner.start();
  eventually(20s, "the learner is healthy", [&] { return Look(probe(learner, "/health") == 200); });
  EXPECT_EQ(probe(learner, "/livez"), has_livez ? 200 : 404);
  EXPECT_NE(probe(learner, "/readyz"), 200);

  for (const std::vector<std::string>& step :
       std::vector<std::vector<std::string>>{{"user", "add", "root:secret"},
                                             {"user", "grant-role", "root", "root"},
                                             {"auth", "enable"}})
    ASSERT_TRUE(cluster.etcdctl_at(cluster[0], step).ok());
  EXPECT_EQ(probe(cluster[0], "/livez"), has_livez ? 200 : 404);
  EXPECT_EQ(probe(cluster[0], "/health"), 200);
}

Task<Result<PutAnswer>> put_large(Api& api, Target target, int number, rt::Deadline deadline) {
  std::string value(8 << 20, static_cast<char>('a' + number % 26));
  co_return co_await api.put(std::move(target),
                             {fmt::format("{}", number), std::move(value), {}, false}, deadline);
}

Task<Result<void>> defragment(Api& api, Target target, rt::Deadline deadline) {
  co_return co_await api.defragment(std::move(target), deadline);
}

// A defragmentation, and the probes beside it.
struct Watched {
  bool defragmented = false;
  int unanswered = 0;
};

Task<void> watch_defragment(Api& api, Target target, rt::Deadline deadline, Watched& seen) {
  must(co_await defragment(api, std::move(target), deadline));
  seen.defragmented = true;
}

Task<void> watch_livez(rt::Runtime runtime, const EtcdMember& member, Watched& seen) {
  while (!seen.defragmented) {
    // Blocks the loop, too: the defragmentation's end is only seen after the probe's.
    if (!http_get(member.metrics(), "/livez", 100ms)) ++seen.unanswered;
    (void)co_await runtime.clock->sleep_until(runtime.in(5ms).at);
  }
}

Task<void> join(rt::TaskGroup& group) { co_await group.join(); }

TEST(EtcdFactsOfOneVersion, E19LivezDoesNotAnswerDuringADefragmentation) {
  EtcdOptions options{"3.6.16", 1, EtcdSecurity::kPlain, quick_flags("3.6.16")};
  options.flags.push_back("--max-request-bytes=10485760");
  EtcdCluster cluster(options);
  auto target = target_of(cluster, cluster[0]);
  Caller caller;
  std::vector<Task<Result<PutAnswer>>> puts;
  for (int i = 0; i < 20; ++i)
    puts.push_back(put_large(caller.api(), target, i, caller.within(60s)));
  for (auto& answer : caller.run(rt::all(caller.runtime(), std::move(puts), 2)))
    must(std::move(answer));

  Watched seen;
  rt::TaskGroup group(caller.runtime());
  group.spawn("defragment", watch_defragment(caller.api(), target, caller.within(60s), seen));
  group.spawn("livez", watch_livez(caller.runtime(), cluster[0], seen));
  caller.run(join(group));
  EXPECT_GE(seen.unanswered, 1);
  ASSERT_TRUE(http_get(cluster[0].metrics(), "/livez"));
}

// Consequence: leaves are renewed without a restart; an authority is changed by two rolls, with
// both trusted in between.
TEST_P(EtcdProcessFacts, E21LeavesAreReadAgainAndAuthoritiesAreNot) {
  EtcdCluster cluster(options(1, EtcdSecurity::kMutualTls));
  const auto& files = cluster.credentials();
  auto target = target_of(cluster, cluster[0]);
  must(caller.status(target));

  support::CertificateAuthority renewed(cluster.folder() / "renewed", "renewed");
  const Leaf server{.common_name = "etcd", .addresses = {support::own_address(), "127.0.0.1"}};
  auto new_server = renewed.issue("server", server);
  auto new_client = renewed.issue("client", {.common_name = "test"});
  auto put_in_place = [](const fs::path& from, const fs::path& to) {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  };
  const auto old_ca = support::read_file(files.client_ca);
  const auto old_client = files.client;
  put_in_place(new_server.certificate, files.server.certificate);
  put_in_place(new_server.key, files.server.key);
  put_in_place(renewed.certificate(), files.client_ca);

  auto as = [&](const KeyPair& client) {
    Target other = target;
    other.identity = identity_of(renewed.certificate(), client);
    return caller.status(other);
  };
  // It shows the new leaf, which only the new authority vouches for, and trusts the old one alone.
  EXPECT_TRUE(as(old_client).has_value());
  EXPECT_EQ(code_of(as(new_client)), Code::kForbidden);

  caller.disconnect();
  cluster[0].kill();
  cluster[0].start();
  cluster[0].wait_healthy();
  EXPECT_TRUE(as(new_client).has_value());
  EXPECT_EQ(code_of(as(old_client)), Code::kForbidden);
}

// A cluster whose peers have names of their own, known through a hosts file that only they see, and
// certificates with names alone. Connections on loopback come from 127.0.0.1, which is not what the
// names lead to.
class NamedPeers {
 public:
  explicit NamedPeers(const std::string& version)
      : program_(support::part("etcd-" + version) / "etcd"),
        authority_(folder_.path() / "pki", "peers"),
        leaf_(authority_.issue("peer", {.common_name = "etcd", .names = {"*.peers.test"}})) {
    std::string hosts = "127.0.0.1 localhost\n";
    for (std::size_t i = 0; i < 3; ++i) {
      peers_.push_back(support::free_endpoint());
      metrics_.push_back(support::free_endpoint());
      clients_.push_back(support::free_endpoint());
      hosts += fmt::format("{} m{}.peers.test\n", peers_[i].host, i);
      processes_.push_back(std::make_unique<support::ServerProcess>(
          fmt::format("m{}", i), folder_.path() / fmt::format("m{}.log", i)));
    }
    support::write_file(folder_.path() / "hosts", hosts);
  }

  void start(const std::vector<std::string>& flags) {
    ++round_;
    // All of them end first: one of the round before would say that the new one has been there.
    for (auto& process : processes_)
      if (process->running()) process->kill();
    for (std::size_t i = 0; i < 3; ++i) processes_[i]->launch({.argv = arguments(i, flags)});
  }
  bool healthy(std::size_t i) const {
    auto answer = http_get(metrics_[i], "/health");
    return answer && answer->status == 200;
  }
  support::ServerProcess& process(std::size_t i) { return *processes_[i]; }
  bool logged(std::size_t i, const std::string& text) const {
    return support::read_file(processes_[i]->log()).find(text) != std::string::npos;
  }

 private:
  std::string url(std::size_t i) const {
    return fmt::format("https://m{}.peers.test:{}", i, peers_[i].port);
  }
  std::vector<std::string> arguments(std::size_t i, const std::vector<std::string>& flags) const {
    std::string all;
    for (std::size_t k = 0; k < 3; ++k) all += fmt::format("{}m{}={}", k ? "," : "", k, url(k));
    std::vector<std::string> argv = {
        "unshare",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        "mount --bind \"$1\" /etc/hosts && shift && exec \"$@\"",
        "sh",
        folder_.path() / "hosts",
        program_,
        fmt::format("--name=m{}", i),
        fmt::format("--data-dir={}/m{}-{}", folder_.path().string(), i, round_),
        "--listen-client-urls=http://" + clients_[i].text(),
        "--advertise-client-urls=http://" + clients_[i].text(),
        "--listen-peer-urls=https://" + peers_[i].text(),
        "--initial-advertise-peer-urls=" + url(i),
        "--initial-cluster=" + all,
        "--listen-metrics-urls=http://" + metrics_[i].text(),
        "--peer-client-cert-auth",
        "--peer-trusted-ca-file=" + authority_.certificate().string(),
        "--peer-cert-file=" + leaf_.certificate.string(),
        "--peer-key-file=" + leaf_.key.string()};
    argv.insert(argv.end(), flags.begin(), flags.end());
    return argv;
  }

  support::TempDir folder_;
  std::string program_;
  support::CertificateAuthority authority_;
  KeyPair leaf_;
  std::vector<support::Endpoint> peers_, metrics_, clients_;
  std::vector<std::unique_ptr<support::ServerProcess>> processes_;
  int round_ = 0;
};

// Consequence: one authority for the peers of one cluster alone, a wildcard, and the flag by
// version: a minor upgrade is never a change of the image alone.
TEST_P(EtcdProcessFacts, E20PeersByNameNeedAFlagThatDependsOnTheVersion) {
  const std::string old_flag = "--experimental-peer-skip-client-san-verification";
  const std::string new_flag = "--peer-skip-client-san-verification";
  NamedPeers peers(version());
  peers.start(quick_flags(version()));
  eventually(20s, "peers are refused", [&] {
    return Look(peers.logged(0, "does not match any of DNSNames") ||
                    peers.logged(0, "tls: \\\"*.peers.test\\\" does not match"),
                support::log_tail(peers.process(0).log(), 2));
  });
  EXPECT_FALSE(peers.healthy(0));

  auto with = [&](const std::string& flag) {
    auto flags = quick_flags(version());
    flags.push_back(flag);
    return flags;
  };
  auto forms_with = [&](const std::string& flag) {
    peers.start(with(flag));
    peers.process(0).await_ready(30s, [&] { return Look(peers.healthy(0)); });
  };
  auto exits_with = [&](const std::string& flag) {
    peers.start(with(flag));
    EXPECT_EQ(peers.process(0).wait_for_exit(10s).code, 2) << flag;
  };
  const bool knows_old = !at_least("3.7"), knows_new = at_least("3.6");
  knows_old ? forms_with(old_flag) : exits_with(old_flag);
  knows_new ? forms_with(new_flag) : exits_with(new_flag);
}

INSTANTIATE_TEST_SUITE_P(EachButTheNewest, EtcdUpgradeFacts,
                         ::testing::ValuesIn(versions().begin(), versions().end() - 1),
                         [](const auto& info) { return label(info.param); });
INSTANTIATE_TEST_SUITE_P(Each, EtcdProcessFacts, ::testing::ValuesIn(versions()),
                         [](const auto& info) { return label(info.param); });

}  // namespace
}  // namespace quorate::etcd

#include <cstdlib>
#include <random>
#include <set>

#include "base/strings.h"
#include "tests/integration/sandbox_rig.h"

// What a sandbox still knows after it was killed.
namespace quorate::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SandboxRestartTest : public SandboxTest {
 protected:
  // Who the members are, and where: the same after a restart, or somebody was replaced.
  std::string identities() {
    std::string out;
    for (const char* kind : {"etcd", "etcdm", "pods", "pvc", "pv", "svc", "secrets", "nodes"})
      out += kubectl({"get", kind, "-o",
                      "jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{\"\\n\"}{end}"})
                 .out;
    out += kubectl({"get", "etcd", "db", "-o", "jsonpath={.status.clusterID}"}).out;
    return out;
  }
  // Until the API answers; the nodes may be in any state.
  void launch() {
    launch_sandbox();
    sandbox_.await_ready(60s, [&] {
      const auto nodes = sandbox({"node", "list"});
      return support::Look(nodes.ok(), nodes.out + nodes.err);
    });
  }
  // Whether the member runs whose Pod is bound to the node.
  bool runs_on(const std::string& cluster, const std::string& node) {
    const auto pod = kubectl({"get", "pods", "--field-selector", "spec.nodeName=" + node, "-o",
                              "jsonpath={.items[0].metadata.name}"})
                         .out;
    EXPECT_NE(pod, "") << node;
    return support::find_member_process(cluster, pod).has_value();
  }
  // Of the whole API: grows with every write.
  std::int64_t version() {
    const auto list = kubectl({"get", "--raw", "/api/v1/nodes?limit=1"});
    const auto at = list.out.find("\"resourceVersion\":\"");
    if (at == std::string::npos) return -1;
    const auto text = list.out.substr(at + 19);
    return parse_integer(text.substr(0, text.find('"'))).value_or(-1);
  }
};

TEST_F(SandboxRestartTest, GoesOnWithTheSameMembersAfterItWasKilled) {
  start();
  quorate({"create", "db", "--wait"});
  for (int i = 0; i < 20; ++i) etcdctl("put key-" + std::to_string(i) + " value");
  const auto before = identities();
  const auto known = support::read_file(kubeconfig());
  const auto last = version();
  ASSERT_GT(last, 0);
  const auto environment = sandbox({"env", "db"}).out;

  kill();
  start();
  EXPECT_EQ(support::read_file(kubeconfig()), known) << "kubeconfigs stay good";
  EXPECT_GE(version(), last);
  const auto keys = etcdctl("get key- --prefix --keys-only");
  for (int i = 0; i < 20; ++i) EXPECT_THAT(keys, HasSubstr("key-" + std::to_string(i) + "\n"));
  support::eventually(60s, "three members are ready again", [&] {
    const auto page = quorate({"status", "db"});
    return support::Look(page.find("3/3") != std::string::npos, page);
  });
  EXPECT_EQ(identities(), before) << "nobody was replaced";
  EXPECT_EQ(sandbox({"env", "db"}).out, environment) << "shells stay good";
  etcdctl("put after kept");
  EXPECT_THAT(quorate({"scale", "db", "--replicas", "5", "--wait"}), HasSubstr("5/5  Ready"));
}

// A node that is off stays off, and one that is cut stays cut, over a kill and a stop; members go
// on where they were once it is undone.
TEST_F(SandboxRestartTest, LeavesNodesAsSomebodyLeftThem) {
  start();
  quorate({"create", "db", "--wait"});
  const auto before = identities();
  ASSERT_EQ(sandbox({"node", "stop", "node-2"}).status.code, 0);
  ASSERT_EQ(sandbox({"node", "cut", "node-3"}).status.code, 0);
  const auto touched = sandbox({"node", "list"}).out;
  EXPECT_THAT(touched, AllOf(HasSubstr("node-1       on       in\n"),
                             HasSubstr("node-2       off      in\n"),
                             HasSubstr("node-3       on       cut\n")));
  kill();
  launch();
  EXPECT_EQ(sandbox({"node", "list"}).out, touched) << "after a kill";
  sandbox_.stop();
  launch();
  EXPECT_EQ(sandbox({"node", "list"}).out, touched) << "after a stop";
  EXPECT_THAT(sandbox({"status"}).out,
              AllOf(HasSubstr("node-2  stopped\n"), HasSubstr("node-3  cut off\n")));
  const auto cluster = uid("db");
  support::eventually(60s, "the member of the node that was left alone runs",
                      [&] { return support::Look(runs_on(cluster, "node-1")); });
  EXPECT_FALSE(runs_on(cluster, "node-2")) << "it is off";
  EXPECT_FALSE(runs_on(cluster, "node-3")) << "nobody can tell it what to run";

  ASSERT_EQ(sandbox({"node", "start", "node-2"}).status.code, 0);
  ASSERT_EQ(sandbox({"node", "mend", "node-3"}).status.code, 0);
  support::eventually(60s, "three members are ready again", [&] {
    const auto page = quorate({"status", "db"});
    return support::Look(page.find("3/3") != std::string::npos, page);
  });
  EXPECT_EQ(identities(), before) << "nobody was replaced";
  kill();
  start();  // waits for three nodes: what was undone stays undone
}

// Makes one ConfigMap after the other and says the name of each that was acknowledged: $1 is
// kubectl, $2 goes into the names.
constexpr const char* kWriter = R"sh(
i=0
while true; do
  i=$((i+1))
  echo "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"r$2-$i\"}}" |
    "$1" create --raw /api/v1/namespaces/default/configmaps -f - >/dev/null 2>&1 && echo "configmap/r$2-$i"
done
)sh";

// Killed at any moment, with a cluster that forms and somebody who writes all the time. As often as
// QUORATE_KILLS says.
TEST_F(SandboxRestartTest, KeepsWhatItAcknowledgedWheneverItIsKilled) {
  const char* wanted = std::getenv("QUORATE_KILLS");
  const auto rounds = wanted ? parse_integer(wanted).value_or(0) : 5;
  ASSERT_GT(rounds, 0);
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 chance(seed);
  std::set<std::string> acknowledged;
  std::set<std::string> lost;
  start();
  quorate({"create", "db"});  // forms, as far as it is let
  for (int round = 0; round < rounds; ++round) {
    const auto log = folder_.path() / ("writer-" + std::to_string(round));
    auto writer = support::Process::start(
        {.argv = {"/bin/sh", "-c", kWriter, "writer",
                  (support::part("kubectl-1.34.4") / "kubectl").string(), std::to_string(round)},
         .env = {{"KUBECONFIG", kubeconfig().string()}, {"HOME", folder_.path().string()}},
         .log = log});
    writer.wait(std::chrono::milliseconds(chance() % 3000));
    kill({writer.pid()});
    writer.kill();
    const auto said = support::read_file(log);
    for (const auto line : split(said, '\n'))
      if (line.starts_with("configmap/")) acknowledged.emplace(line);
    start();
    const auto answer = kubectl({"get", "configmaps", "-o", "name"});
    ASSERT_TRUE(answer.ok()) << "after kill " << round + 1 << ": " << answer.err;
    const auto& list = answer.out;
    std::set<std::string> there;
    for (const auto line : split(list, '\n')) there.emplace(line);
    for (const auto& name : acknowledged)
      if (!there.contains(name)) lost.insert(name);
    ASSERT_THAT(lost, ::testing::IsEmpty()) << "after kill " << round + 1;
  }
  EXPECT_GT(acknowledged.size(), 0u);
  // No process is left, or kill() would have failed.
  std::printf("killed %lld times: %zu acknowledged, %zu lost, 0 processes left\n",
              static_cast<long long>(rounds), acknowledged.size(), lost.size());
  support::eventually(120s, "the cluster is there after all", [&] {
    const auto page = run({kQuorate, "status", "db"});
    return support::Look(page.out.find("3/3 ready") != std::string::npos, page.out + page.err);
  });
  EXPECT_EQ(etcdctl("put after kept"), "OK\n");
}

}  // namespace
}  // namespace quorate::test

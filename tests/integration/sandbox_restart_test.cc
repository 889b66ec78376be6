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

}  // namespace
}  // namespace quorate::test

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "json/patch.h"
#include "tests/support/our_kinds.h"
#include "tests/support/parts.h"
#include "tests/support/process.h"
#include "tests/support/wait.h"

// `quorate dashboard` against a real API server, looked at with a real browser. No operator runs:
// the test says how clusters are.
namespace quorate::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::string kQuorate = std::string(QUORATE_BINARY_DIR) + "/quorate";

std::string members_of(const std::string& cluster) {
  std::string out;
  for (int i = 0; i < 3; ++i)
    out += fmt::format(R"(---
apiVersion: quorate.io/v1alpha1
kind: EtcdMember
metadata: {{name: {0}-{1}, namespace: shop, labels: {{quorate.io/cluster: {0}}}}}
spec: {{clusterName: {0}, clusterUID: 00000000-0000-4000-8000-000000000001, ordinal: {1}, incarnation: 1,
        formation: {{number: 1, firstOrdinal: 0, size: 3}}, version: 3.6.16, role: Voter,
        peerURL: "https://{0}-{1}.{0}-peer.shop.svc:2380", run: true}}
---
apiVersion: v1
kind: Pod
metadata: {{name: {0}-{1}, namespace: shop, labels: {{quorate.io/cluster: {0}}}}}
spec: {{nodeName: node-{1}, containers: [{{name: etcd, image: etcd}}]}}
)",
                       cluster, i);
  return out;
}

constexpr const char* kReady = R"({"observedGeneration": 1, "phase": "Ready", "ready": "3/3",
  "replicas": 3, "readyReplicas": 3, "version": {"current": "3.6.16", "target": "3.6.16"},
  "clusterID": "cafe0123", "operator": "quorate",
  "conditions": [
    {"type": "Ready", "status": "True", "reason": "AsDeclared", "message": "",
     "lastTransitionTime": "2026-01-02T03:04:05Z"},
    {"type": "CertificatesValid", "status": "True", "reason": "AsExpected",
     "message": "valid until 2026-08-01", "lastTransitionTime": "2026-01-02T03:04:05Z"}]})";
constexpr const char* kUnsettled = R"({"observedGeneration": 0, "phase": "2/3 members are ready",
  "ready": "2/3",
  "waiting": [
    {"rule": "heal", "verdict": "waiting", "reason": "NodeGone",
     "message": "the node of orders-2 does not answer; it may still return",
     "since": "2026-01-02T03:04:05Z", "deadline": "2026-01-02T03:09:05Z"},
    {"rule": "roll", "verdict": "blocked", "reason": "VotersUnhealthy",
     "message": "orders-2 is not back", "since": "2026-01-02T03:04:05Z"}],
  "intent": {"epoch": 7, "step": "RemoveMember", "targets": ["orders-2"],
             "since": "2026-01-02T03:05:00Z"}})";
constexpr const char* kFrozen = R"({"phase": "Frozen: 1 of 3 members answer, 2 are needed",
  "ready": "1/3", "conditions": [{"type": "Frozen", "status": "True", "reason": "NoQuorum",
    "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}]})";
constexpr const char* kSneaky = R"({"observedGeneration": 0,
  "phase": "<img src=x onerror=\"document.title='broken'\"> & more"})";

// A patch of the status: all is well but for `otherwise`.
std::string status_of(const std::string& cluster, const std::string& otherwise) {
  auto status = json::parse(kReady).value();
  json::Array members;
  for (int i = 0; i < 3; ++i)
    members.push_back(json::Object{{"name", fmt::format("{}-{}", cluster, i)},
                                   {"id", fmt::format("{}a", i + 1)},
                                   {"role", i == 2 ? "Learner" : "Voter"},
                                   {"ready", i != 2},
                                   {"version", "3.6.16"}});
  status.as_object()["members"] = std::move(members);
  status.as_object()["leader"] = cluster + "-1";
  status = json::apply_merge_patch(std::move(status), json::parse(otherwise).value());
  return json::render(json::Object{{"status", std::move(status)}});
}

class Dashboard : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    kube_ = new support::KubeCluster();
    support::serve_our_kinds(*kube_);
    ASSERT_TRUE(kube_->kubectl({"create", "namespace", "shop"}).ok());
    for (const auto& [name, more] : {std::pair("users", "{}"), std::pair("orders", kUnsettled),
                                     std::pair("carts", kFrozen), std::pair("sneaky", kSneaky)}) {
      kube_->apply(
          fmt::format("apiVersion: quorate.io/v1alpha1\nkind: EtcdCluster\n"
                      "metadata: {{name: {}, namespace: shop}}\nspec: {{replicas: 3}}\n{}",
                      name, members_of(name)));
      const auto patched =
          kube_->kubectl({"patch", "etcdcluster", name, "-n", "shop", "--subresource=status",
                          "--type=merge", "-p", status_of(name, more)});
      ASSERT_TRUE(patched.ok()) << patched.err;
      for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(kube_
                        ->kubectl({"patch", "etcdmember", fmt::format("{}-{}", name, i), "-n",
                                   "shop", "--subresource=status", "--type=merge", "-p",
                                   R"({"status": {"ready": true, "version": "3.6.16", "dbSize":
                                      "20Mi", "raftLag": 0}})"})
                        .ok());
    }
    kube_->apply(R"(apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: orders.1, namespace: shop}
eventTime: "2026-01-02T03:04:05.000000Z"
reportingController: quorate.io/operator
reportingInstance: quorate
action: Heal
type: Warning
reason: MemberLost
note: "orders-2 has lost its node"
regarding: {apiVersion: quorate.io/v1alpha1, kind: EtcdCluster, name: orders, namespace: shop}
)");
  }
  static void TearDownTestSuite() {
    delete kube_;
    kube_ = nullptr;
  }

  // Starts it and gives the address that it prints.
  std::string start() {
    dashboard_.launch({.argv = {kQuorate, "dashboard", "-n", "shop"},
                       .env = {{"KUBECONFIG", kube_->admin_kubeconfig().string()}}});
    std::string address;
    dashboard_.await_ready(30s, [&] {
      std::ifstream log(dashboard_.log());
      std::getline(log, address);
      return support::Look(address.find("#token=") != std::string::npos, address);
    });
    return address;
  }

  void tell(const std::string& story) {
    const auto browser = support::run({.argv = {"bash", "-c", "command -v chromium"}});
    if (!browser.ok()) GTEST_SKIP() << "no chromium; scripts/bootstrap --browser installs it";
    const auto told =
        support::run({.argv = {"python3",
                               std::string(QUORATE_SOURCE_DIR) +
                                   "/tests/integration/program_dashboard_browser.py",
                               story, "--address", start(), "--quorate", kQuorate, "--kubectl",
                               (support::part("kubectl-1.34.4") / "kubectl").string(),
                               "--kubeconfig", kube_->admin_kubeconfig().string(), "--screens",
                               std::string(QUORATE_BINARY_DIR) + "/dashboard-screens"},
                      .env = {{"HOME", folder_.path().string()}}},
                     120s);
    EXPECT_TRUE(told.ok()) << told.out << told.err;
  }

  static support::KubeCluster* kube_;
  support::TempDir folder_;
  support::ServerProcess dashboard_{"dashboard", folder_.path() / "dashboard.out"};
};
support::KubeCluster* Dashboard::kube_ = nullptr;

TEST_F(Dashboard, ShowsTheFleetWithProblemsFirst) { tell("fleet"); }
TEST_F(Dashboard, FollowsWhatHappens) { tell("live"); }
TEST_F(Dashboard, KeepsTheHistoryOfWhatIsLookedAt) { tell("history"); }
TEST_F(Dashboard, ShowsTheLatestEventsAndAllOnRequest) { tell("events"); }
TEST_F(Dashboard, SaysWhatStatusAndWhySay) { tell("words"); }
TEST_F(Dashboard, IsUsedByKeyboard) { tell("keyboard"); }
TEST_F(Dashboard, ShowsNothingWithoutTheToken) { tell("token"); }
TEST_F(Dashboard, TellsScreenReadersWhatItShows) { tell("accessible"); }
TEST_F(Dashboard, IsLightAndDarkWideAndNarrow) { tell("screens"); }

TEST_F(Dashboard, EndsInPeaceAtCtrlC) {
  start();
  ::kill(dashboard_.pid(), SIGINT);
  EXPECT_EQ(dashboard_.wait_for_exit(10s).text(), "exit 0");
}

TEST_F(Dashboard, EndsInPeaceWhenItIsTold) {
  start();
  ::kill(dashboard_.pid(), SIGTERM);
  EXPECT_EQ(dashboard_.wait_for_exit(10s).text(), "exit 0");
}

TEST_F(Dashboard, SaysAtOnceWhereItMayNotRead) {
  const auto stranger = kube_->kubeconfig("stranger", {.token = "guessed"});
  const auto output =
      support::run({.argv = {kQuorate, "dashboard"}, .env = {{"KUBECONFIG", stranger.string()}}});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.err, HasSubstr("quorate dashboard: "));
  EXPECT_THAT(output.err, HasSubstr("Unauthorized"));
  EXPECT_EQ(output.out, "");
}

}  // namespace
}  // namespace quorate::test

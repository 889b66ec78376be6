#include "tests/support/kube_fixture.h"

#include <gtest/gtest.h>

#include "tests/support/fault_proxy.h"
#include "tests/support/wait.h"

namespace quorate::support {
namespace {

using namespace std::chrono_literals;

constexpr const char* kServiceAccount = R"(
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: reader, namespace: default}]
)";

// One control plane for all tests of the suite; they use objects of different names.
class Kube : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { kube_ = new KubeCluster; }
  static void TearDownTestSuite() {
    delete kube_;
    kube_ = nullptr;
  }

  static KubeCluster* kube_;
};

KubeCluster* Kube::kube_ = nullptr;

TEST_F(Kube, ListsNamespaces) {
  const Output namespaces = kube_->kubectl({"get", "namespaces", "--output=name"});
  ASSERT_TRUE(namespaces.ok()) << namespaces.err;
  EXPECT_NE(namespaces.out.find("namespace/default\n"), std::string::npos) << namespaces.out;
}

TEST_F(Kube, ReportsTheVersionThatWasAskedFor) {
  const Output version = kube_->kubectl({"version"});
  EXPECT_NE(version.out.find("Client Version: v1.34.4"), std::string::npos) << version.out;
  EXPECT_NE(version.out.find("Server Version: v1.34.4"), std::string::npos) << version.out;
}

TEST_F(Kube, GivesAServiceAccountWhatItsRoleAllowsAndNoMore) {
  kube_->apply(kServiceAccount);
  const auto config =
      kube_->kubeconfig("reader", {.token = kube_->service_account_token("default", "reader")});
  const Output allowed = kube_->kubectl_as(config, {"get", "configmaps"});
  EXPECT_TRUE(allowed.ok()) << allowed.err;
  const Output denied = kube_->kubectl_as(config, {"get", "secrets"});
  EXPECT_NE(denied.err.find("system:serviceaccount:default:reader"), std::string::npos)
      << denied.err;
}

TEST_F(Kube, BelievesClientCertificatesOfItsAuthority) {
  const KeyPair jane =
      kube_->authority().issue("jane", {.common_name = "jane", .organization = "system:masters"});
  const auto config = kube_->kubeconfig("jane", {.certificate = jane});
  const Output who = kube_->kubectl_as(config, {"auth", "whoami"});
  EXPECT_NE(who.out.find("jane"), std::string::npos) << who.out << who.err;
}

TEST_F(Kube, ServesThroughAProxy) {
  FaultProxy proxy(kube_->api_server().endpoint());
  const auto config = kube_->kubeconfig(
      "through-proxy", {.token = KubeCluster::admin_token(), .server = proxy.endpoint()});
  const Output namespaces = kube_->kubectl_as(config, {"get", "namespaces"});
  EXPECT_TRUE(namespaces.ok()) << namespaces.err;
  EXPECT_GT(proxy.counters().answer_bytes, 0U);
}

// Only without the watch cache is etcd's compaction seen at once; with it, old lists are served
// from snapshots in memory.
TEST(KubeWithoutWatchCache, ForgetsWhatEtcdHasCompacted) {
  KubeCluster kube({.api_server_flags = {"--watch-cache=false"}});
  const std::vector<std::string> list_at_1 = {
      "get", "--raw=/api/v1/configmaps?resourceVersion=1&resourceVersionMatch=Exact&limit=1"};
  ASSERT_TRUE(kube.kubectl(list_at_1).ok());
  const Output revision = kube.kubectl(
      {"get", "namespace", "default", "--output=jsonpath={.metadata.resourceVersion}"});
  const Output compacted = kube.etcd().etcdctl({"compact", revision.out});
  ASSERT_TRUE(compacted.ok()) << compacted.err;
  const Output gone = kube.kubectl(list_at_1);
  EXPECT_NE(gone.err.find("too old"), std::string::npos) << gone.out << gone.err;
}

TEST_F(Kube, ReturnsOnTheSamePortWithItsObjects) {
  kube_->apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: default}}");
  kube_->api_server().kill();
  EXPECT_FALSE(kube_->kubectl({"get", "configmap", "kept", "--request-timeout=2s"}).ok());
  kube_->api_server().start();
  kube_->api_server().wait_ready();
  const Output kept = kube_->kubectl({"get", "configmap", "kept"});
  EXPECT_TRUE(kept.ok()) << kept.err;
}

TEST(KubeControllers, MakeAccountsAndScheduleAndCollectGarbage) {
  KubeCluster kube({.controller_manager = true, .scheduler = true});
  kube.apply(R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {}
)");
  // There is no kubelet, so the node's word about itself is ours to give.
  const Output ready = kube.kubectl(
      {"patch", "node", "n1", "--subresource=status", "--type=merge",
       R"(--patch={"status":{"allocatable":{"cpu":"8","memory":"8Gi","pods":"10"},)"
       R"("conditions":[{"type":"Ready","status":"True","reason":"Test","message":"test",)"
       R"("lastHeartbeatTime":"2030-01-01T00:00:00Z","lastTransitionTime":"2030-01-01T00:00:00Z"}]}})"});
  ASSERT_TRUE(ready.ok()) << ready.err;
  kube.apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: localhost/web}]}
)");
  eventually(60s, "the Pod of the Deployment is bound to the node", [&] {
    const Output pods =
        kube.kubectl({"get", "pods", "--output=jsonpath={.items[*].spec.nodeName}"});
    return Look(pods.out == "n1", pods.out + pods.err);
  });
  ASSERT_TRUE(kube.kubectl({"delete", "deployment", "web", "--wait=false"}).ok());
  eventually(60s, "its ReplicaSet is collected", [&] {
    const Output sets = kube.kubectl({"get", "replicasets", "--output=name"});
    return Look(sets.ok() && sets.out.empty(), sets.out + sets.err);
  });
}

}  // namespace
}  // namespace quorate::support

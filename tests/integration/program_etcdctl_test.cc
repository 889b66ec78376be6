#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/our_kinds.h"
#include "tests/support/process.h"

// `quorate etcdctl` as it is typed, against a real API server that has no nodes: what is said where
// nothing can be run. That something runs is shown where there are nodes (sandbox_*_test.cc).
namespace quorate::test {
namespace {

using ::testing::HasSubstr;

class Etcdctl : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    kube_ = new support::KubeCluster();
    support::serve_our_kinds(*kube_);
    kube_->apply(R"(apiVersion: quorate.io/v1alpha1
kind: EtcdCluster
metadata: {name: db, namespace: default}
spec: {replicas: 1}
)");
  }
  static void TearDownTestSuite() {
    delete kube_;
    kube_ = nullptr;
  }

  support::Output etcdctl(std::vector<std::string> words) {
    words.insert(words.begin(), {std::string(QUORATE_BINARY_DIR) + "/quorate", "etcdctl"});
    return support::run(
        {.argv = std::move(words), .env = {{"KUBECONFIG", kube_->admin_kubeconfig().string()}}});
  }
  // A Pod of which a kubelet says that etcd runs in it.
  void run_member(const std::string& name) {
    kube_->apply("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                 ", namespace: default, labels: {quorate.io/cluster: db}}\n"
                 "spec: {nodeName: nowhere, containers: [{name: etcd, image: etcd}]}\n");
    const auto patched = kube_->kubectl(
        {"patch", "pod", name, "--subresource=status", "--type=merge", "-p",
         R"({"status": {"phase": "Running", "containerStatuses": [{"name": "etcd", "ready": true,
             "image": "etcd", "imageID": "", "restartCount": 0,
             "state": {"running": {"startedAt": "2026-01-02T03:04:05Z"}}}]}})"});
    ASSERT_TRUE(patched.ok()) << patched.err;
  }

  static support::KubeCluster* kube_;
};
support::KubeCluster* Etcdctl::kube_ = nullptr;

TEST_F(Etcdctl, SaysWhatIsMissing) {
  auto output = etcdctl({"bd", "--", "member", "list"});
  EXPECT_EQ(output.status.code, 4);
  EXPECT_THAT(output.err, HasSubstr("there is default/db"));
  output = etcdctl({"db", "--", "member", "list"});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_EQ(output.err,
            "quorate etcdctl: no member of default/db runs; quorate why -n default db says what it "
            "waits for\n");
  output = etcdctl({"db"});
  EXPECT_EQ(output.status.code, 2);
  EXPECT_THAT(output.err, HasSubstr("arguments"));
}

TEST_F(Etcdctl, TellsThatANodeIsGone) {
  run_member("db-0");
  const auto output = etcdctl({"db", "--", "get", "--prefix", "a"});
  EXPECT_EQ(output.status.code, 1) << output.err;
  EXPECT_THAT(output.err, HasSubstr("exec in pod default/db-0: pods \"nowhere\" not found"));
}

// The handshake with a real API server, and the channel on which it says that it could not do it.
TEST_F(Etcdctl, TellsThatANodeDoesNotAnswer) {
  run_member("db-0");
  kube_->apply("apiVersion: v1\nkind: Node\nmetadata: {name: nowhere}\n");
  const auto patched =
      kube_->kubectl({"patch", "node", "nowhere", "--subresource=status", "--type=merge", "-p",
                      R"({"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                          "daemonEndpoints": {"kubeletEndpoint": {"Port": 1}}}})"});
  ASSERT_TRUE(patched.ok()) << patched.err;
  const auto output = etcdctl({"db", "--", "get", "--prefix", "a"});
  EXPECT_EQ(output.status.code, 1) << output.err;
  EXPECT_THAT(output.err, HasSubstr("127.0.0.1:1: connect: connection refused"));
  EXPECT_EQ(output.out, "");
  EXPECT_TRUE(kube_->kubectl({"delete", "node", "nowhere"}).ok());
}

TEST_F(Etcdctl, TellsThatItIsNotAllowed) {
  run_member("db-0");
  kube_->apply(R"(apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{kind: ServiceAccount, name: reader, namespace: default}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: [list]}, {apiGroups: [quorate.io], resources: ["*"], verbs: [get]}]
)");
  const auto config =
      kube_->kubeconfig("reader", {.token = kube_->service_account_token("default", "reader")});
  const auto output = etcdctl({"db", "--kubeconfig", config.string(), "--", "version"});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.err, HasSubstr("exec in pod default/db-0"));
  EXPECT_THAT(output.err, HasSubstr("cannot get resource \"pods/exec\""));
}

}  // namespace
}  // namespace quorate::test

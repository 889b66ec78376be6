#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <map>

#include "tests/support/member_process.h"
#include "tests/support/parts.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

// `quorate sandbox` as it is typed: real etcd in local Pods behind the API in memory, worked with
// by our own commands and by kubectl.
namespace quorate::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

const std::string kQuorate = std::string(QUORATE_BINARY_DIR) + "/quorate";

class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    constexpr int kUnsupported = 3;
    const auto fabric = run({kQuorate, "fabric", "--dir", folder_.path() / "try", "--", "true"});
    if (fabric.status.code == kUnsupported) GTEST_SKIP() << "no fabric: " << fabric.err;
    start();
  }
  void TearDown() override {
    if (sandbox_.running()) sandbox_.stop();
  }

  void start() {
    sandbox_.launch({.argv = {kQuorate, "sandbox", "--dir", dir(), "--etcd",
                              support::part("etcd-3.6.16").string()}});
    sandbox_.await_ready(60s, [&] {
      const auto nodes = kubectl({"get", "nodes", "-o", "name"});
      return support::Look(nodes.out == "node/node-1\nnode/node-2\nnode/node-3\n",
                           nodes.out + nodes.err);
    });
  }
  std::string dir() const { return (folder_.path() / "sandbox").string(); }
  fs::path kubeconfig() const { return fs::path(dir()) / "kubeconfig"; }

  support::Output run(Words words) {
    support::Command command{.argv = std::move(words)};
    command.env = {{"KUBECONFIG", kubeconfig().string()}, {"HOME", folder_.path().string()}};
    return support::run(command);
  }
  support::Output kubectl(Words words) {
    words.insert(words.begin(), (support::part("kubectl-1.34.4") / "kubectl").string());
    return run(std::move(words));
  }
  std::string quorate(Words words) {
    words.insert(words.begin(), kQuorate);
    const auto output = run(std::move(words));
    EXPECT_EQ(output.status.code, 0) << output.err;
    return output.out;
  }
  // etcdctl beside the members, with the certificate for applications.
  std::string etcdctl(Words words) {
    Words all{kQuorate,
              "fabric",
              "--dir",
              dir(),
              "--",
              (support::part("etcd-3.6.16") / "etcdctl").string(),
              "--endpoints=https://db.default.svc:2379",
              "--command-timeout=20s"};
    for (const auto& [flag, key] : std::map<std::string, std::string>{
             {"--cacert", "ca.crt"}, {"--cert", "tls.crt"}, {"--key", "tls.key"}}) {
      const auto secret = kubectl({"get", "secret", "db-client-tls", "-o",
                                   "go-template={{index .data \"" + key + "\" | base64decode}}"});
      const auto file = folder_.path() / key;
      support::write_file(file, secret.out);
      all.push_back(flag + "=" + file.string());
    }
    all.insert(all.end(), words.begin(), words.end());
    const auto output = run(std::move(all));
    EXPECT_TRUE(output.ok()) << output.err;
    return output.out;
  }
  std::string uid(const std::string& cluster) {
    return kubectl({"get", "etcd", cluster, "-o", "jsonpath={.metadata.uid}"}).out;
  }

  support::TempDir folder_;
  support::ServerProcess sandbox_{"sandbox", folder_.path() / "sandbox.out"};
};

TEST_F(SandboxTest, FormsHealsResizesAndForgetsNoWrite) {
  EXPECT_THAT(quorate({"create", "db", "--wait"}), HasSubstr("3/3  Ready"));
  const auto page = quorate({"status", "db"});
  EXPECT_THAT(page, AllOf(HasSubstr("node-1"), HasSubstr("node-2"), HasSubstr("node-3")));
  etcdctl({"put", "before", "kept"});

  const auto victim = support::find_member_process(uid("db"), "db-1");
  ASSERT_TRUE(victim);
  ::kill(*victim, SIGKILL);
  etcdctl({"put", "while", "kept"});
  EXPECT_THAT(quorate({"scale", "db", "--replicas", "5", "--wait"}), HasSubstr("5/5  Ready"));
  EXPECT_THAT(quorate({"hibernate", "db", "--wait"}), HasSubstr("Hibernated"));
  EXPECT_FALSE(support::find_member_process(uid("db"), "db-0"));
  EXPECT_THAT(quorate({"wake", "db", "--wait"}), HasSubstr("5/5  Ready"));
  EXPECT_EQ(etcdctl({"get", "before", "--print-value-only"}), "kept\n");
  EXPECT_EQ(etcdctl({"get", "while", "--print-value-only"}), "kept\n");

  const auto cluster = uid("db");
  ASSERT_TRUE(support::find_member_process(cluster, "db-0"));
  EXPECT_EQ(sandbox_.stop().code, 0);
  EXPECT_FALSE(support::find_member_process(cluster, "db-0")) << "nobody is left behind";
}

TEST_F(SandboxTest, RestartsMembersOneAfterTheOtherWhenItIsAskedTo) {
  quorate({"create", "db", "--wait"});
  const auto uids = [&] {
    return kubectl({"get", "pods", "-l", "quorate.io/cluster=db", "-o",
                    "jsonpath={.items[*].metadata.uid}"})
        .out;
  };
  const auto before = uids();
  EXPECT_THAT(quorate({"restart", "db", "--wait"}), HasSubstr("3/3  Ready"));
  const auto after = uids();
  EXPECT_EQ(before.size(), after.size());
  for (std::size_t at = 0; at < before.size(); at += 37)
    EXPECT_THAT(after, ::testing::Not(HasSubstr(before.substr(at, 36))));
}

TEST_F(SandboxTest, BelongsToItsOwnerAlone) {
  struct stat found {};
  ASSERT_EQ(::stat(kubeconfig().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  const auto stranger = kubectl({"get", "nodes", "--token", "guessed"});
  EXPECT_FALSE(stranger.ok());
  EXPECT_THAT(stranger.err, HasSubstr("Unauthorized"));
  const auto second = run({kQuorate, "sandbox", "--dir", dir()});
  EXPECT_EQ(second.status.code, 1);
  EXPECT_THAT(second.err, HasSubstr("a sandbox runs in " + dir() + " already"));
}

}  // namespace
}  // namespace quorate::test

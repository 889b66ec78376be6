#include <sys/stat.h>

#include <csignal>

#include "tests/integration/sandbox_rig.h"

// A cluster's life in the sandbox, and who may use it.
namespace quorate::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(SandboxTest, FormsHealsResizesAndForgetsNoWrite) {
  start();
  EXPECT_THAT(quorate({"create", "db", "--wait"}), HasSubstr("3/3  Ready"));
  const auto page = quorate({"status", "db"});
  EXPECT_THAT(page, AllOf(HasSubstr("node-1"), HasSubstr("node-2"), HasSubstr("node-3")));
  etcdctl("put before kept");

  const auto victim = support::find_member_process(uid("db"), "db-1");
  ASSERT_TRUE(victim);
  ::kill(*victim, SIGKILL);
  etcdctl("put while kept");
  EXPECT_THAT(quorate({"scale", "db", "--replicas", "5", "--wait"}), HasSubstr("5/5  Ready"));
  EXPECT_THAT(quorate({"hibernate", "db", "--wait"}), HasSubstr("Hibernated"));
  EXPECT_FALSE(support::find_member_process(uid("db"), "db-0"));
  EXPECT_THAT(quorate({"wake", "db", "--wait"}), HasSubstr("5/5  Ready"));
  EXPECT_EQ(etcdctl("get before --print-value-only"), "kept\n");
  EXPECT_EQ(etcdctl("get while --print-value-only"), "kept\n");

  const auto cluster = uid("db");
  ASSERT_TRUE(support::find_member_process(cluster, "db-0"));
  EXPECT_EQ(sandbox_.stop().code, 0);
  EXPECT_FALSE(support::find_member_process(cluster, "db-0")) << "nobody is left behind";
}

TEST_F(SandboxTest, RestartsMembersOneAfterTheOtherWhenItIsAskedTo) {
  start();
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
    EXPECT_THAT(after, Not(HasSubstr(before.substr(at, 36))));
}

TEST_F(SandboxTest, BelongsToItsOwnerAlone) {
  start();
  for (const char* file : {"kubeconfig", "credentials", "objects", "lock"}) {
    struct stat found {};
    ASSERT_EQ(::stat((dir() + "/" + file).c_str(), &found), 0) << file;
    EXPECT_EQ(found.st_mode & 0777, 0600u) << file;
  }
  const auto stranger = kubectl({"get", "nodes", "--token", "guessed"});
  EXPECT_FALSE(stranger.ok());
  EXPECT_THAT(stranger.err, HasSubstr("Unauthorized"));
  const auto second = sandbox({"start", "--etcd", etcd_folder()});
  EXPECT_EQ(second.status.code, 1);
  EXPECT_THAT(second.err, HasSubstr("a sandbox runs in " + dir() + " already (process " +
                                    std::to_string(sandbox_.pid()) + ")"));
}

}  // namespace
}  // namespace quorate::test

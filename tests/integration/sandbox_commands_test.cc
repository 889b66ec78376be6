#include <sys/stat.h>

#include <csignal>

#include "base/strings.h"
#include "sandbox/folder.h"
#include "tests/integration/sandbox_rig.h"

// `quorate sandbox start`, `stop`, `status`, `env`, `node` and `reset`, as a person types them.
namespace quorate::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SandboxCommandsTest : public SandboxTest {
 protected:
  void TearDown() override {
    if (const auto left = sandbox::Folder(dir()).holder()) left->signal(SIGKILL);
    SandboxTest::TearDown();
  }
};

TEST_F(SandboxCommandsTest, RunsInTheBackgroundUntilItIsStopped) {
  const auto started = sandbox({"start", "--etcd", etcd_folder()});
  ASSERT_EQ(started.status.code, 0) << started.err;
  EXPECT_THAT(started.out, HasSubstr("quorate sandbox stop"));
  const auto process = sandbox::Folder(dir()).holder();
  ASSERT_TRUE(process);
  EXPECT_TRUE(kubectl({"get", "namespaces"}).ok()) << "the API answers when start returns";
  support::eventually(30s, "status", [&] {
    const auto status = sandbox({"status"});
    return support::Look(status.out.find("node-3  on") != std::string::npos,
                         status.out + status.err);
  });
  EXPECT_THAT(sandbox({"status"}).out,
              AllOf(HasSubstr(dir()), HasSubstr(std::to_string(process->pid)),
                    HasSubstr("https://127.0.0.1:")));
  EXPECT_EQ(sandbox({"reset", "--yes"}).status.code, 1) << "not while it runs";

  const auto stopped = sandbox({"stop"});
  EXPECT_EQ(stopped.status.code, 0) << stopped.err;
  EXPECT_FALSE(process->runs());
  EXPECT_THAT(sandbox({"stop"}).out, HasSubstr("no sandbox runs in " + dir()));
  const auto status = sandbox({"status"});
  EXPECT_EQ(status.status.code, 1);
  EXPECT_THAT(status.err, HasSubstr("quorate sandbox start"));

  EXPECT_EQ(sandbox({"reset"}).status.code, 2) << "nobody is there to say yes";
  EXPECT_TRUE(fs::exists(dir() + "/objects"));
  EXPECT_EQ(sandbox({"reset", "--yes"}).status.code, 0);
  EXPECT_FALSE(fs::exists(dir()));
}

TEST_F(SandboxCommandsTest, SaysWhatIsWrongBeforeItGoesIntoTheBackground) {
  const auto absent = sandbox({"start", "--etcd", folder_.path().string()});
  EXPECT_EQ(absent.status.code, 2);
  EXPECT_THAT(absent.err, HasSubstr("there is no program etcd in it"));
  const auto look_in = [&](const std::string& path) {
    support::Command bare{.argv = {kQuorate, "sandbox", "start", "--dir", dir()}};
    bare.env = {{"PATH", path}};
    return support::run(bare);
  };
  const auto unknown = look_in(folder_.path().string());
  EXPECT_EQ(unknown.status.code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("there is no etcd in PATH"), HasSubstr("--etcd")));
  const auto old = folder_.path() / "old";
  fs::create_directories(old);
  support::write_file(old / "etcd", "#!/bin/sh\necho 'etcd Version: 3.3.1'\n");
  fs::permissions(old / "etcd", fs::perms::owner_all);
  const auto unfit = look_in(old.string() + ":/usr/bin-that-is-not-there");
  EXPECT_EQ(unfit.status.code, 2);
  EXPECT_THAT(unfit.err, AllOf(HasSubstr(old.string()), HasSubstr("3.3.1")));
  fs::create_directories(dir());
  support::write_file(dir() + "/objects", "not mine\n");
  const auto damaged = sandbox({"start", "--etcd", etcd_folder()});
  EXPECT_EQ(damaged.status.code, 1);
  EXPECT_THAT(damaged.err, AllOf(HasSubstr("line 1"), HasSubstr("reset")));
  EXPECT_EQ(support::read_file(dir() + "/objects"), "not mine\n");
}

TEST_F(SandboxCommandsTest, CompletesCommandsBelowCommands) {
  const auto offered = [&](const std::string& before, const std::string& typed) {
    return run({"bash", "-c",
                "source <($0 completion bash); COMP_WORDS=($1 \"$2\");"
                "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _quorate; echo \"${COMPREPLY[@]}\"",
                kQuorate, before, typed})
        .out;
  };
  EXPECT_EQ(offered("quorate", "sand"), "sandbox\n");
  EXPECT_EQ(offered("quorate sandbox", "st"), "start stop status\n");
  EXPECT_EQ(offered("quorate sandbox node", "m"), "mend\n");
  EXPECT_EQ(offered("quorate sandbox start", "--fore"), "--foreground\n");
}

TEST_F(SandboxCommandsTest, LetsEtcdctlInFromOutsideWithVerifiedTls) {
  start();
  const auto unknown = sandbox({"env", "db"});
  EXPECT_EQ(unknown.status.code, 4) << unknown.err;
  quorate({"create", "db", "--wait"});
  const auto environment = sandbox({"env", "db"});
  ASSERT_EQ(environment.status.code, 0) << environment.err;
  EXPECT_THAT(environment.out, AllOf(HasSubstr("export KUBECONFIG='" + kubeconfig().string()),
                                     HasSubstr("export ETCDCTL_ENDPOINTS='https://127.0.0.1:")));
  struct stat key {};
  ASSERT_EQ(::stat((dir() + "/clients/default_db/tls.key").c_str(), &key), 0);
  EXPECT_EQ(key.st_mode & 0777, 0600u);
  EXPECT_EQ(shell("db", "etcdctl put a b && etcdctl get a --print-value-only").out, "OK\nb\n");
  const auto stranger =
      shell("db", "unset ETCDCTL_CERT ETCDCTL_KEY; etcdctl --command-timeout=3s get a");
  EXPECT_FALSE(stranger.ok()) << "members ask for a certificate";
  const auto unsure = shell("db", "unset ETCDCTL_CACERT; etcdctl --command-timeout=3s get a");
  EXPECT_FALSE(unsure.ok()) << "nobody else is believed";
}

TEST_F(SandboxCommandsTest, PowersNodesOffAndCutsThem) {
  start();
  quorate({"create", "db", "--wait"});
  const auto cluster = uid("db");
  const auto node = kubectl({"get", "pod", "db-0", "-o", "jsonpath={.spec.nodeName}"}).out;
  const auto off = sandbox({"node", "stop", node});
  ASSERT_EQ(off.status.code, 0) << off.err;
  EXPECT_FALSE(support::find_member_process(cluster, "db-0"));
  EXPECT_THAT(sandbox({"node", "list"}).out, HasSubstr(node + "       off"));
  EXPECT_EQ(sandbox({"node", "stop", node}).status.code, 4);
  etcdctl("put while off");
  const auto on = sandbox({"node", "start", node});
  ASSERT_EQ(on.status.code, 0) << on.err;
  support::eventually(60s, "the member runs again", [&] {
    return support::Look(support::find_member_process(cluster, "db-0").has_value());
  });
  EXPECT_THAT(sandbox({"node", "cut", node}).out, HasSubstr("cut"));
  etcdctl("put while cut");
  EXPECT_THAT(sandbox({"node", "mend", node}).out, Not(HasSubstr("cut\n")));
  EXPECT_EQ(sandbox({"node", "cut", "node-9"}).status.code, 4);
}

TEST_F(SandboxCommandsTest, TwoSandboxesDoNotKnowEachOther) {
  start();
  const auto other = (folder_.path() / "other").string();
  const auto begun = run({kQuorate, "sandbox", "start", "--dir", other, "--etcd", etcd_folder()});
  ASSERT_EQ(begun.status.code, 0) << begun.err;
  const auto file = folder_.path() / "mine.json";
  support::write_file(file, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"mine"}})");
  EXPECT_TRUE(kubectl({"create", "--validate=false", "-f", file.string()}).ok());
  const auto theirs = run({(support::part("kubectl-1.34.4") / "kubectl").string(), "--kubeconfig",
                           other + "/kubeconfig", "get", "configmaps", "-o", "name"});
  EXPECT_TRUE(theirs.ok()) << theirs.err;
  EXPECT_THAT(theirs.out, Not(HasSubstr("mine")));
  EXPECT_EQ(run({kQuorate, "sandbox", "stop", "--dir", other}).status.code, 0);
  EXPECT_TRUE(kubectl({"get", "configmap", "mine"}).ok()) << "the first one runs on";
}

}  // namespace
}  // namespace quorate::test

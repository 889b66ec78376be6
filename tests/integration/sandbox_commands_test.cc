#include <fmt/format.h>
#include <sys/stat.h>

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

class SandboxCommandsTest : public SandboxTest {};

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

// The limit is that of a user namespace of the test's own: the machine's stays as it is.
TEST_F(SandboxCommandsTest, SaysWhatTheKernelRefusesAndEndsWithThree) {
  const auto refused = [&](const std::string& words) {
    return run(
        {"unshare", "--user", "--map-root-user", "sh", "-c",
         fmt::format("echo 0 >/proc/sys/user/max_user_namespaces; exec '{}' {}", kQuorate, words)});
  };
  for (const auto& words :
       {fmt::format("sandbox start --dir '{}' --etcd '{}'", dir(), etcd_folder()),
        fmt::format("sandbox start --foreground --dir '{}' --etcd '{}'", dir(), etcd_folder()),
        fmt::format("fabric --dir '{}' -- true", dir())}) {
    const auto said = refused(words);
    EXPECT_EQ(said.status.code, 3) << words;
    EXPECT_THAT(said.err,
                HasSubstr("make the fabric: unshare(CLONE_NEWUSER): no space left on device; "
                          "user.max_user_namespaces is 0 here: `sysctl -w "
                          "user.max_user_namespaces=15000` (as root) allows it"))
        << words;
  }
}

// Two clusters of the same name hold different things, and the end of one is nothing to the other.
TEST_F(SandboxCommandsTest, TwoSandboxesDoNotKnowEachOther) {
  const auto there = folder_.path() / "other";
  support::ServerProcess other{"other", folder_.path() / "other.out"};
  other.launch({.argv = {kQuorate, "sandbox", "start", "--foreground", "--dir", there.string(),
                         "--etcd", etcd_folder()}});
  start();
  other.await_ready(60s, [&] {
    const auto status = run({kQuorate, "sandbox", "status", "--dir", there.string()});
    return support::Look(status.ok(), status.out + status.err);
  });
  const auto fill = [&](const std::filesystem::path& folder, const std::string& value) {
    const auto done =
        run({"/bin/sh", "-euc",
             fmt::format(
                 "PATH='{0}':'{1}':$PATH; eval $(quorate sandbox env --dir '{2}');"
                 "quorate create db --replicas 1 --wait; eval $(quorate sandbox env --dir '{2}' "
                 "db); etcdctl put whose {3}",
                 etcd_folder(), QUORATE_BINARY_DIR, folder.string(), value)});
    ASSERT_TRUE(done.ok()) << done.err;
  };
  fill(dir(), "mine");
  fill(there, "theirs");
  EXPECT_EQ(etcdctl("get whose --print-value-only"), "mine\n");
  kill(other, there);
  etcdctl("put goes on");
  EXPECT_EQ(etcdctl("get whose --print-value-only"), "mine\n");
  EXPECT_THAT(processes_at(dir()), Not(::testing::IsEmpty())) << "nothing of it was ended";
}

}  // namespace
}  // namespace quorate::test

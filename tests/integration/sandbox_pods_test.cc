#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "base/strings.h"
#include "json/document.h"
#include "json/timestamp.h"
#include "tests/integration/sandbox_rig.h"

// `kubectl logs` and `kubectl exec` on members of a cluster.
namespace quorate::test {
namespace {

using ::testing::HasSubstr;

class SandboxPodsTest : public SandboxTest {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    if (IsSkipped()) return;
    start();
    quorate({"create", "db", "--wait"});
  }
  support::Output exec(const Words& command) {
    Words all{"exec", "db-0", "-c", "etcd", "--"};
    all.insert(all.end(), command.begin(), command.end());
    return kubectl(std::move(all));
  }
};

TEST_F(SandboxPodsTest, RunsCommandsInAContainer) {
  const auto said = exec({"sh", "-c", "echo out; echo err >&2; hostname"});
  EXPECT_EQ(said.status.code, 0) << said.err;
  EXPECT_EQ(said.out, "out\ndb-0\n");
  EXPECT_EQ(said.err, "err\n");
  EXPECT_EQ(exec({"sh", "-c", "exit 7"}).status.code, 7);
  EXPECT_EQ(exec({"sh", "-c", "kill -9 $$"}).status.code, 137);
  const auto absent = exec({"no-such-program"});
  EXPECT_EQ(absent.status.code, 1);
  EXPECT_THAT(absent.err, HasSubstr("no-such-program"));

  support::Command typed{
      .argv = {kubectl_program(), "exec", "-i", "db-0", "-c", "etcd", "--", "sh", "-c", "wc -c"}};
  typed.env = {{"KUBECONFIG", kubeconfig().string()}, {"HOME", folder_.path().string()}};
  typed.input = std::string(300000, 'x');
  EXPECT_EQ(support::run(typed).out, "300000\n") << "input ends where it ends";

  const auto large = exec({"sh", "-c", "head -c 1000000 /dev/zero"});
  EXPECT_EQ(large.out.size(), 1000000u);
}

// `script` is the terminal that kubectl wants to be at itself.
TEST_F(SandboxPodsTest, RunsCommandsAtATerminal) {
  const auto type = [&](const std::string& flags, const std::string& command) {
    return run({"script", "-qec",
                fmt::format("stty rows 33 cols 99; '{}' exec {} db-0 -c etcd -- sh -c '{}'",
                            kubectl_program(), flags, command),
                "/dev/null"});
  };
  const auto size = type("-it",
                         "until [ \"$(stty size)\" = \"33 99\" ]; do sleep 0.1; done;"
                         "test -t 0 && test -t 1 && test -t 2 && echo $TERM >/dev/tty; exit 7");
  EXPECT_THAT(size.out, HasSubstr("xterm\r\n"));
  EXPECT_EQ(size.status.code, 7) << size.out;
  auto mixed = type("-it", "echo out; echo err >&2").out;
  // What `script` types when its own input ends, shown by the terminal wherever it comes.
  if (const auto typed = mixed.find("^@"); typed != std::string::npos) mixed.erase(typed, 2);
  EXPECT_THAT(mixed, HasSubstr("out\r\nerr\r\n")) << "a terminal has one output";
  EXPECT_THAT(type("-i", "test -t 0 || echo none").out, HasSubstr("none\r\n"));
}

TEST_F(SandboxPodsTest, SaysWhyACommandCannotRun) {
  EXPECT_THAT(kubectl({"exec", "db-9", "--", "true"}).err, HasSubstr("pods \"db-9\" not found"));
  EXPECT_THAT(kubectl({"exec", "db-0", "-c", "nobody", "--", "true"}).err,
              HasSubstr("container nobody is not valid for pod db-0"));
  const std::string path = "/api/v1/namespaces/default/pods/db-0/exec?container=etcd";
  EXPECT_THAT(kubectl({"get", "--raw", path + "&command=true"}).err,
              HasSubstr("no upgrade is asked for"));
  EXPECT_THAT(kubectl({"get", "--raw", path}).err, HasSubstr("no command is given"));
  const auto node = kubectl({"get", "pod", "db-0", "-o", "jsonpath={.spec.nodeName}"}).out;
  ASSERT_EQ(sandbox({"node", "stop", node}).status.code, 0);
  EXPECT_THAT(exec({"true"}).err, HasSubstr("node " + node + " does not answer"));
}

// There are no tokens of service accounts here, and whoever runs a Pod of their own does not know.
TEST_F(SandboxPodsTest, SaysWhyAPodOfSomebodysOwnDoesNotStart) {
  ASSERT_TRUE(kubectl({"run", "mine", "--image", "gcr.io/etcd-development/etcd"}).ok());
  support::eventually(20s, "its event says what to do", [&] {
    const auto events = kubectl({"events", "--for", "pod/mine"});
    return support::Look(
        events.out.find("automountServiceAccountToken: false") != std::string::npos,
        events.out + events.err);
  });
}

TEST_F(SandboxPodsTest, ShowsWhatContainersSay) {
  const auto all = kubectl({"logs", "db-0", "-c", "etcd"});
  EXPECT_EQ(all.status.code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("ready to serve client requests"));
  const auto last = kubectl({"logs", "db-0", "-c", "etcd", "--tail", "1"});
  EXPECT_EQ(std::count(last.out.begin(), last.out.end(), '\n'), 1);
  EXPECT_EQ(kubectl({"logs", "db-0", "-c", "etcd", "--limit-bytes", "10"}).out,
            all.out.substr(0, 10));
  EXPECT_EQ(kubectl({"logs", "db-0", "-c", "etcd", "--since", "1h"}).out.substr(0, 100),
            all.out.substr(0, 100));
  EXPECT_EQ(kubectl({"logs", "db-0", "-c", "etcd", "--since-time", "2100-01-01T00:00:00Z"}).out,
            "");
  EXPECT_THAT(kubectl({"logs", "db-0", "-c", "etcd", "--previous"}).err,
              HasSubstr("there is no earlier run"));
}

// etcd says in each line when it said it: the node heard it at that moment.
TEST_F(SandboxPodsTest, ShowsWhenContainersSaidIt) {
  const auto plain = kubectl({"logs", "db-0", "-c", "etcd"}).out;
  const auto stamped = kubectl({"logs", "db-0", "-c", "etcd", "--timestamps"});
  ASSERT_TRUE(stamped.ok()) << stamped.err;
  std::string without;
  int compared = 0;
  std::optional<WallTime> last;
  for (const auto line : split(stamped.out, '\n')) {
    if (line.empty()) continue;
    const auto parts = cut(line, " ");
    ASSERT_TRUE(parts && parts->before.size() == 30) << line;
    const auto heard = json::parse_time(parts->before);
    ASSERT_TRUE(heard) << line;
    without += std::string(parts->after) + "\n";
    const auto document = json::parse(parts->after);
    const auto said = document ? json::parse_time(json::text_or(*document, "/ts", ""))
                               : Result<WallTime>(fail(Code::kInvalid, ""));
    if (!said) continue;  // the launch guard says no time
    EXPECT_GE(*heard + 1ms, *said) << line;
    EXPECT_LE(*heard, *said + 2s) << line;
    ++compared;
    last = *heard;
  }
  EXPECT_GT(compared, 10);
  EXPECT_THAT(without, ::testing::StartsWith(plain));
  ASSERT_TRUE(last);
  const auto since = kubectl({"logs", "db-0", "-c", "etcd", "--timestamps", "--since-time",
                              json::render_time(*last + 1s)})
                         .out;
  for (const auto line : split(since, '\n'))
    if (!line.empty()) EXPECT_GT(line.substr(0, 20), json::render_time(*last)) << line;
}

// Until the container ends; then the next one says its own.
TEST_F(SandboxPodsTest, FollowsAContainerToItsEnd) {
  const auto log = folder_.path() / "followed";
  auto follower = support::Process::start(
      {.argv = {kubectl_program(), "logs", "-f", "db-1", "-c", "etcd"},
       .env = {{"KUBECONFIG", kubeconfig().string()}, {"HOME", folder_.path().string()}},
       .log = log});
  support::eventually(20s, "it follows", [&] {
    return support::Look(support::read_file(log).find("ready to serve") != std::string::npos);
  });
  EXPECT_TRUE(follower.running());
  const auto victim = support::find_member_process(uid("db"), "db-1");
  ASSERT_TRUE(victim);
  ::kill(*victim, SIGTERM);
  const auto ended = follower.wait(30s);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 0);
  const auto followed = support::read_file(log);
  EXPECT_THAT(followed, HasSubstr("received signal; shutting down")) << "the last words are there";
  support::eventually(30s, "the next run", [&] {
    const auto previous = kubectl({"logs", "db-1", "-c", "etcd", "--previous"});
    return support::Look(previous.ok() && previous.out == followed, previous.err);
  });
}

}  // namespace
}  // namespace quorate::test

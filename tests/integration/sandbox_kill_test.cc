#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>

#include "base/strings.h"
#include "sandbox/folder.h"
#include "tests/integration/sandbox_rig.h"

// kill -9 at any moment: while it works, while it starts, before and after it answers.
namespace quorate::test {
namespace {

using std::chrono::milliseconds;

// Makes one object after the other, and says the name of each that was acknowledged. $1 is kubectl.
constexpr const char* kObjects = R"sh(
i=0
while true; do
  i=$((i+1))
  echo "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"r-$i\"}}" |
    "$1" create --raw /api/v1/namespaces/default/configmaps -f - >/dev/null 2>&1 && echo "configmap/r-$i"
done
)sh";

// The same with keys of a cluster. $1 is etcdctl.
constexpr const char* kKeys = R"sh(
i=0
while true; do
  i=$((i+1))
  "$1" --dial-timeout=1s --command-timeout=1s put "k-$i" v >/dev/null 2>&1 && echo "k-$i"
done
)sh";

// As many as QUORATE_KILLS says.
int kills_wanted() {
  const char* given = std::getenv("QUORATE_KILLS");
  return given ? static_cast<int>(parse_integer(given).value_or(0)) : 6;
}

std::uint32_t seed_of_run() {
  const char* given = std::getenv("QUORATE_SEED");
  return given ? static_cast<std::uint32_t>(parse_integer(given).value_or(0))
               : std::random_device()();
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> out;
  for (const auto line : split(text, '\n'))
    if (!line.empty()) out.emplace(line);
  return out;
}

std::string missing_in(const std::set<std::string>& there, const std::set<std::string>& wanted) {
  std::string out;
  for (const auto& name : wanted)
    if (!there.contains(name)) out += name + " ";
  return out;
}

class SandboxKillTest : public SandboxTest {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    if (IsSkipped()) return;
    start();
    quorate({"create", "db", "--wait"});
    const auto program = fmt::format("{}/etcdctl", etcd_folder());
    write("objects", kObjects, kubectl_program(), {{"KUBECONFIG", kubeconfig().string()}});
    write("keys", kKeys, program, environment_of_etcdctl());
  }

  // How long `start` takes until the API answers: kills of a start come within twice that.
  milliseconds time_of_start() {
    const auto begun = std::chrono::steady_clock::now();
    const auto started = sandbox({"start"});
    EXPECT_TRUE(started.ok()) << started.err;
    const auto took = std::chrono::steady_clock::now() - begun;
    kill(sandbox::Folder(dir()).holder()->pid, dir(), ours());
    return std::chrono::duration_cast<milliseconds>(took);
  }

  enum class Came { kBeforeItRan, kBeforeItAnswered, kAfterwards };

  // `quorate sandbox start`, killed after that time: the daemon, or first whoever starts it, whose
  // end must be nothing to the daemon.
  Came kill_a_start(milliseconds after, bool starter_first) {
    auto starter = support::Process::start({.argv = {kQuorate, "sandbox", "start", "--dir", dir()},
                                            .env = {{"HOME", folder_.path().string()}},
                                            .log = folder_.path() / "starter"});
    const auto ended = starter.wait(after);
    if (ended) {
      EXPECT_TRUE(ended->ok()) << support::log_tail(folder_.path() / "starter");
      kill(find_daemon(starter.pid()).value(), dir(), ours());
      return Came::kAfterwards;
    }
    starter.signal(SIGSTOP);  // it forks no more
    const auto daemon = find_daemon(starter.pid());
    if (!daemon) {
      kill(starter.pid(), dir(), ours());
      return Came::kBeforeItRan;
    }
    starter.signal(starter_first ? SIGKILL : SIGCONT);
    if (starter_first) {
      starter.wait(10s);
      await_answer();
    }
    kill(*daemon, dir(), ours());  // waits for the starter, too
    return Came::kBeforeItAnswered;
  }

  void let_write(milliseconds time) { EXPECT_FALSE(writers_.front().wait(time)) << "it ended"; }
  std::set<pid_t> ours() const {
    std::set<pid_t> out;
    for (const auto& writer : writers_) out.insert(writer.pid());
    return out;
  }
  std::set<std::string> acknowledged(const std::string& what) const {
    return lines_of(support::read_file(folder_.path() / ("writer-" + what)));
  }
  std::set<std::string> objects() {
    const auto answer = kubectl({"get", "configmaps", "-o", "name"});
    EXPECT_TRUE(answer.ok()) << answer.err;
    return lines_of(answer.out);
  }

 private:
  void write(const std::string& what, const char* script, const std::string& program,
             std::map<std::string, std::string> environment) {
    environment["HOME"] = folder_.path().string();
    writers_.push_back(
        support::Process::start({.argv = {"/bin/sh", "-c", script, "writer", program},
                                 .env = std::move(environment),
                                 .log = folder_.path() / ("writer-" + what)}));
  }

  std::map<std::string, std::string> environment_of_etcdctl() {
    std::map<std::string, std::string> out;
    for (const auto& line : lines_of(shell("db", "env").out))
      if (const auto parts = cut(line, "="); parts && line.starts_with("ETCDCTL_"))
        out.emplace(parts->before, parts->after);
    EXPECT_TRUE(out.contains("ETCDCTL_ENDPOINTS"));
    return out;
  }

  std::optional<pid_t> find_daemon(pid_t starter) const {
    const auto below = descendants_of(starter);
    if (!below.empty()) return below.front();
    const auto holder = sandbox::Folder(dir()).holder();
    return holder ? std::optional(holder->pid) : std::nullopt;
  }

  void await_answer() {
    support::eventually(30s, "the daemon goes on without whoever started it", [&] {
      const auto status = sandbox({"status"});
      return support::Look(status.ok(), status.out + status.err);
    });
  }

  std::vector<support::Process> writers_;
};

TEST_F(SandboxKillTest, LosesNothingThatItAcknowledgedAndLeavesNoProcess) {
  const auto wanted = kills_wanted();
  ASSERT_GT(wanted, 0) << "QUORATE_KILLS";
  const auto seed = seed_of_run();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 chance(seed);
  const auto within = [&](milliseconds most) {
    return milliseconds(chance() % static_cast<std::uint32_t>(most.count()));
  };
  std::map<Came, int> came;
  quorate({"create", "late"});  // forms, as far as it is let
  kill(ours());
  const auto start_takes = time_of_start();
  int kills = 2;
  start();
  while (kills < wanted) {
    let_write(within(3s));
    kill(ours());
    ++came[kill_a_start(within(2 * start_takes), chance() % 3 == 0)];
    kills += 2;
    const auto told = acknowledged("objects");
    start();
    ASSERT_EQ(missing_in(objects(), told), "") << "acknowledged, and lost after kill " << kills;
  }
  support::eventually(120s, "both clusters are there after all", [&] {
    const auto page = run({kQuorate, "status"});
    return support::Look(page.out.find("3/3", page.out.find("3/3") + 1) != std::string::npos,
                         page.out + page.err);
  });
  const auto told = acknowledged("objects"), kept = acknowledged("keys");
  EXPECT_EQ(missing_in(objects(), told), "");
  EXPECT_EQ(missing_in(lines_of(etcdctl("get k- --prefix --keys-only")), kept), "");
  EXPECT_GT(told.size(), 0u);
  EXPECT_GT(kept.size(), 0u);
  // No process is left, or kill() would have failed.
  fmt::print(
      "killed {} times: {} objects and {} keys acknowledged, 0 lost, 0 processes left; {} kills "
      "came while it started: {} before it ran, {} before it answered, {} just after\n",
      kills, told.size(), kept.size(),
      came[Came::kBeforeItRan] + came[Came::kBeforeItAnswered] + came[Came::kAfterwards],
      came[Came::kBeforeItRan], came[Came::kBeforeItAnswered], came[Came::kAfterwards]);
}

}  // namespace
}  // namespace quorate::test

#include "tests/support/process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>

#include "tests/support/fixture_error.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace quorate::support {
namespace {

using namespace std::chrono_literals;

// Whether a process, of whomever it is a child, ends in time.
bool ends(const Fd& pidfd, std::chrono::milliseconds within) {
  pollfd item{pidfd.get(), POLLIN, 0};
  return ::poll(&item, 1, static_cast<int>(within.count())) == 1;
}

// A copy of this program that runs `body` as if it were a test program of its own.
pid_t fork_program(const std::function<void()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    body();
    ::_exit(0);
  }
  return pid;
}

[[noreturn]] void hang() {
  while (true) ::pause();
}

// A shell that starts a process of its own and tells both numbers. No kernel signal reaches the
// inner one when the test program dies: that is the guard's work.
Command family(const std::filesystem::path& log) {
  return {.argv = {"sh", "-c", "sleep 1000 & echo $$ $!; wait"}, .log = log};
}

struct Family {
  Fd shell, inner;
};

Family await_family(const std::filesystem::path& log) {
  pid_t shell = 0;
  pid_t inner = 0;
  eventually(10s, "the numbers of both processes", [&] {
    std::error_code missing;
    if (!std::filesystem::exists(log, missing)) return Look(false);
    const std::string text = read_file(log);
    return Look(std::sscanf(text.c_str(), "%d %d\n", &shell, &inner) == 2, text);
  });
  return Family{open_pidfd(shell), open_pidfd(inner)};
}

TEST(Process, TellsHowItEnded) {
  EXPECT_EQ(Process::start({.argv = {"true"}}).wait(10s), (ExitStatus{0, 0}));
  EXPECT_EQ(Process::start({.argv = {"sh", "-c", "exit 7"}}).wait(10s), (ExitStatus{7, 0}));
  EXPECT_EQ(Process::start({.argv = {"sh", "-c", "kill -9 $$"}}).wait(10s), (ExitStatus{0, 9}));
}

TEST(Process, IsStillThereWhenTheWaitIsOver) {
  Process process = Process::start({.argv = {"sleep", "1000"}});
  EXPECT_EQ(process.wait(10ms), std::nullopt);
  EXPECT_TRUE(process.running());
  EXPECT_EQ(process.stop(), (ExitStatus{0, SIGTERM}));
  EXPECT_FALSE(process.running());
}

TEST(Process, IsKilledWhenItIgnoresTheRequestToStop) {
  const TempDir folder;
  const auto log = folder.path() / "log";
  Process process = Process::start(
      {.argv = {"sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1000; done"}, .log = log});
  eventually(10s, "it is deaf", [&] { return read_file(log) == "deaf\n"; });
  EXPECT_EQ(process.stop(50ms), (ExitStatus{0, SIGKILL}));
}

TEST(Process, StopsAlsoWhenPaused) {
  Process process = Process::start({.argv = {"sleep", "1000"}});
  process.pause();
  EXPECT_EQ(process.stop(), (ExitStatus{0, SIGTERM}));
}

TEST(Process, HangsWhilePaused) {
  const TempDir folder;
  const auto log = folder.path() / "log";
  Process process = Process::start({.argv = {"sh", "-c",
                                             "trap 'echo heard; exit' USR1; echo ready; "
                                             "while :; do sleep 0.01; done"},
                                    .log = log});
  eventually(10s, "it is ready", [&] { return read_file(log) == "ready\n"; });
  process.pause();
  process.signal(SIGUSR1);
  EXPECT_EQ(process.wait(100ms), std::nullopt);
  process.resume();
  EXPECT_EQ(process.wait(10s), (ExitStatus{0, 0}));
  EXPECT_EQ(read_file(log), "ready\nheard\n");
}

TEST(Process, EndsWithItsWholeGroup) {
  const TempDir folder;
  Family family_now;
  {
    const Process process = Process::start(family(folder.path() / "log"));
    family_now = await_family(folder.path() / "log");
  }
  EXPECT_TRUE(ends(family_now.shell, 10s));
  EXPECT_TRUE(ends(family_now.inner, 10s));
}

TEST(Process, SaysWhyItCouldNotStart) {
  EXPECT_THROW(Process::start({.argv = {"no-such-program"}}), FixtureError);
  EXPECT_THROW(Process::start({.argv = {"/dev/null"}}), FixtureError);
  EXPECT_THROW(Process::start({.argv = {"true"}, .cwd = "/no/such/folder"}), FixtureError);
}

TEST(Process, IsRefusedToThreadsThatMayEndBeforeTheTest) {
  std::thread([] { EXPECT_THROW(Process::start({.argv = {"true"}}), FixtureError); }).join();
}

TEST(Process, GetsASmallEnvironment) {
  ::setenv("ETCD_NAME", "from-outside", 1);
  const Output output = run({.argv = {"env"}, .env = {{"GIVEN", "here"}}});
  ::unsetenv("ETCD_NAME");
  EXPECT_NE(output.out.find("GIVEN=here\n"), std::string::npos);
  EXPECT_NE(output.out.find("PATH="), std::string::npos);
  EXPECT_EQ(output.out.find("ETCD_NAME"), std::string::npos);
}

// The guard and the kernel's signal, in the three ways in which a program can end badly.
class DeathOfTheProgram : public ::testing::TestWithParam<int> {};

TEST_P(DeathOfTheProgram, EndsEveryChildWithItsGroup) {
  const TempDir folder;
  const auto log = folder.path() / "log";
  const pid_t program = fork_program([&] {
    const Process process = Process::start(family(log));
    hang();
  });
  const Family family_now = await_family(log);
  ASSERT_EQ(::kill(program, GetParam()), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(program, &status, 0), program);
  EXPECT_TRUE(ends(family_now.shell, 10s));
  EXPECT_TRUE(ends(family_now.inner, 10s));
}

INSTANTIATE_TEST_SUITE_P(Signals, DeathOfTheProgram, ::testing::Values(SIGKILL, SIGTERM, SIGABRT));

TEST(Run, CollectsBothOutputsAndFeedsTheInput) {
  const Output output =
      run({.argv = {"sh", "-c", "cat; echo oops >&2; exit 3"}, .input = std::string(200000, 'x')});
  EXPECT_EQ(output.status, (ExitStatus{3, 0}));
  EXPECT_EQ(output.out, std::string(200000, 'x'));
  EXPECT_EQ(output.err, "oops\n");
}

TEST(Run, GivesUpOnACommandThatDoesNotEnd) {
  try {
    run({.argv = {"sh", "-c", "echo begun; sleep 1000"}}, 200ms);
    FAIL() << "it ended";
  } catch (const FixtureError& error) {
    EXPECT_NE(std::string(error.what()).find("begun"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace quorate::support

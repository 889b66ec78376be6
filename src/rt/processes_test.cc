#include "rt/processes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "rt/fd.h"
#include "rt/group.h"
#include "rt/loop.h"

namespace quorate::rt {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class ProcessesTest : public testing::Test {
 protected:
  // A shell script; its lines go to out_ and err_.
  ProcessSpec shell(std::string script) {
    ProcessSpec spec;
    spec.arguments = {"/bin/sh", "-c", std::move(script)};
    spec.environment = {"PATH=/usr/bin:/bin"};
    spec.standard_output = Lines{[this](std::string_view line) { out_.emplace_back(line); }};
    spec.standard_error = Lines{[this](std::string_view line) { err_.emplace_back(line); }};
    return spec;
  }
  Result<Exit> run(ProcessSpec spec, Duration limit = 30s) {
    return loop_.run(run_process(processes_, std::move(spec), loop_.runtime().in(limit)));
  }
  // Runs until the child has written `count` lines.
  Task<Result<void>> until_lines(Process& process, std::size_t count) {
    auto deadline = loop_.runtime().in(30s);
    while (out_.size() < count) {
      if (deadline.passed(*loop_.runtime().clock)) co_return fail(Code::kTimeout, "no line came");
      auto ended = co_await process.wait(loop_.runtime().in(10ms));
      if (ended) co_return fail(Code::kUnavailable, "ended: " + ended->text());
    }
    co_return Result<void>();
  }

  Loop loop_;
  MachineProcesses processes_{loop_.runtime()};
  std::vector<std::string> out_;
  std::vector<std::string> err_;
};

TEST_F(ProcessesTest, GivesExitCodeSignalAndLines) {
  auto exit = run(shell("echo one; echo two >&2; printf three; exit 7"));
  ASSERT_TRUE(exit) << exit.error().text();
  EXPECT_EQ(*exit, (Exit{7, 0}));
  EXPECT_THAT(out_, ElementsAre("one", "three"));
  EXPECT_THAT(err_, ElementsAre("two"));
  EXPECT_EQ(exit->text(), "exited with code 7");

  auto killed = run(shell("kill -9 $$"));
  ASSERT_TRUE(killed);
  EXPECT_EQ(*killed, (Exit{0, 9}));
  EXPECT_FALSE(killed->ok());
}

TEST_F(ProcessesTest, DeliversAllOutputHoweverMuch) {
  auto exit = run(shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"));
  ASSERT_TRUE(exit && exit->ok());
  ASSERT_EQ(out_.size(), 20000u);
  EXPECT_EQ(out_.back(), "line 19999");
}

TEST_F(ProcessesTest, GivesTheChildItsEnvironmentDirectoryAndNothingElse) {
  setenv("QUORATE_TEST_LEAK", "1", 1);
  // Not marked close-on-exec, as other code may leave them.
  Fd leaked(::dup(0));
  auto spec = shell("pwd; echo $MINE; env | grep -c LEAK; ls /proc/self/fd | wc -l");
  spec.environment.push_back("MINE=yes");
  spec.working_directory = "/proc";
  auto exit = run(std::move(spec));
  ASSERT_TRUE(exit);
  // 0, 1, 2, and the one with which ls reads the directory.
  EXPECT_THAT(out_, ElementsAre("/proc", "yes", "0", "4"));
}

TEST_F(ProcessesTest, FindsAProgramInTheChildsPath) {
  ProcessSpec spec = shell("");
  spec.arguments = {"sh", "-c", "echo found"};
  ASSERT_TRUE(run(std::move(spec)));
  EXPECT_THAT(out_, ElementsAre("found"));
}

TEST_F(ProcessesTest, SaysWhatCouldNotBeDone) {
  ProcessSpec missing = shell("");
  missing.arguments = {"/no/such/program"};
  auto exit = run(std::move(missing));
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().code(), Code::kNotFound);
  EXPECT_THAT(exit.error().text(), HasSubstr("start /no/such/program: execute: no such file"));

  ProcessSpec nowhere = shell("true");
  nowhere.working_directory = "/no/such/directory";
  auto directory = run(std::move(nowhere));
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error().text(), HasSubstr("change to the working directory"));

  ProcessSpec outside = shell("true");
  outside.enter.push_back({0, CLONE_NEWUTS});
  auto space = run(std::move(outside));
  ASSERT_FALSE(space);
  EXPECT_THAT(space.error().text(), HasSubstr("enter a namespace"));

  ProcessSpec unwritable = shell("true");
  unwritable.standard_output = AppendTo{"/no/such/directory/log"};
  auto file = run(std::move(unwritable));
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().text(), HasSubstr("open /no/such/directory/log"));
}

TEST_F(ProcessesTest, AppendsOutputToAFile) {
  char folder[] = "/tmp/quorate-processes-XXXXXX";
  ASSERT_TRUE(mkdtemp(folder));
  const auto path = std::string(folder) + "/log";
  for (const char* text : {"echo first", "echo second"}) {
    auto spec = shell(text);
    spec.standard_output = AppendTo{path};
    ASSERT_TRUE(run(std::move(spec)));
  }
  std::ifstream file(path);
  std::string written((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(written, "first\nsecond\n");
  std::filesystem::remove_all(folder);
}

Task<Result<Exit>> start_and_stop(Processes& processes, ProcessSpec spec,
                                  std::function<Task<Result<void>>(Process&)> ready,
                                  Duration grace) {
  CO_TRY(auto process, co_await processes.start(std::move(spec)));
  auto is_ready = co_await ready(*process);
  auto exit = co_await process->stop(grace);
  if (!is_ready) co_return fail(is_ready.error());
  co_return exit;
}

TEST_F(ProcessesTest, StopLetsTheProcessEndByItself) {
  auto script = shell("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done");
  auto exit = loop_.run(start_and_stop(
      processes_, std::move(script), [this](Process& process) { return until_lines(process, 1); },
      30s));
  ASSERT_TRUE(exit) << exit.error().text();
  EXPECT_EQ(*exit, (Exit{3, 0}));
  EXPECT_THAT(out_, ElementsAre("ready", "bye"));
}

TEST_F(ProcessesTest, StopKillsAProcessThatDoesNotHear) {
  auto before = loop_.runtime().clock->now();
  auto script = shell("trap '' TERM; echo ready; while :; do sleep 0.05; done");
  auto exit = loop_.run(start_and_stop(
      processes_, std::move(script), [this](Process& process) { return until_lines(process, 1); },
      200ms));
  ASSERT_TRUE(exit) << exit.error().text();
  EXPECT_EQ(*exit, (Exit{0, SIGKILL}));
  EXPECT_GE(loop_.runtime().clock->now() - before, 200ms);
}

// True once no process has this number, or only one that waits to be reaped by somebody else.
bool gone(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return true;
  auto after_name = text.rfind(") ");
  return after_name != std::string::npos && text[after_name + 2] == 'Z';
}

Task<bool> gone_soon(Runtime runtime, int pid) {
  auto deadline = runtime.in(30s);
  while (!gone(pid) && !deadline.passed(*runtime.clock)) {
    if (!co_await runtime.clock->sleep_until(runtime.clock->now() + 5ms)) break;
  }
  co_return gone(pid);
}

TEST_F(ProcessesTest, NothingOfTheGroupIsLeftAndItsOutputDoesNotHoldUs) {
  // The grandchild keeps the pipes open, and would for 100 s.
  auto exit = run(shell("sleep 100 & echo $!; exit 0"));
  ASSERT_TRUE(exit) << exit.error().text();
  ASSERT_EQ(out_.size(), 1u);
  EXPECT_TRUE(loop_.run(gone_soon(loop_.runtime(), std::stoi(out_[0]))));
}

TEST_F(ProcessesTest, RunProcessStopsAtTheDeadline) {
  auto exit = run(shell("exec sleep 100"), 100ms);
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().code(), Code::kTimeout);
  EXPECT_THAT(exit.error().text(), HasSubstr("run /bin/sh"));
}

Task<void> run_into(Processes& processes, ProcessSpec spec, std::optional<Result<Exit>>& slot) {
  slot.emplace(co_await run_process(processes, std::move(spec), Deadline::never()));
}

Task<void> cancel_run(Runtime runtime, Processes& processes, ProcessSpec spec,
                      std::vector<std::string>& out, std::optional<Result<Exit>>& slot) {
  TaskGroup group(runtime);
  group.spawn("run", run_into(processes, std::move(spec), slot));
  auto deadline = runtime.in(30s);
  while (out.empty() && !deadline.passed(*runtime.clock))
    (void)co_await runtime.clock->sleep_until(runtime.clock->now() + 5ms);
  group.cancel();
  co_await group.join();
}

TEST_F(ProcessesTest, ACancelledFiberStillStopsItsProcess) {
  std::optional<Result<Exit>> slot;
  auto spec = shell("trap 'echo stopped; exit 0' TERM; echo $$; while :; do sleep 0.05; done");
  loop_.run(cancel_run(loop_.runtime(), processes_, std::move(spec), out_, slot));
  ASSERT_TRUE(slot && !*slot);
  EXPECT_EQ(slot->error().code(), Code::kCancelled);
  ASSERT_EQ(out_.size(), 2u);
  EXPECT_EQ(out_[1], "stopped");
  EXPECT_TRUE(gone(std::stoi(out_[0])));
}

Task<void> wait_into(Process& process, std::optional<Result<Exit>>& slot) {
  slot.emplace(co_await process.wait(Deadline::never()));
}

Task<void> several_wait(Runtime runtime, Processes& processes, ProcessSpec spec,
                        std::vector<std::optional<Result<Exit>>>& slots) {
  auto process = co_await processes.start(std::move(spec));
  if (!process) co_return;
  TaskGroup first(runtime);
  TaskGroup others(runtime);
  first.spawn("watches", wait_into(**process, slots[0]));
  others.spawn("waits too", wait_into(**process, slots[1]));
  for (int i = 0; i < 10; ++i) (void)co_await yield(runtime);  // both have begun to wait
  first.cancel();
  co_await first.join();
  slots[2].emplace(co_await (*process)->stop(30s));
  co_await others.join();
  EXPECT_EQ((*process)->signal(SIGTERM).error().code(), Code::kNotFound);
}

TEST_F(ProcessesTest, SeveralMayWaitAndAnotherTakesOverTheWatch) {
  std::vector<std::optional<Result<Exit>>> slots(3);
  loop_.run(several_wait(loop_.runtime(), processes_, shell("exec sleep 100"), slots));
  ASSERT_TRUE(slots[0] && slots[1] && slots[2]);
  EXPECT_EQ(slots[0]->error().code(), Code::kCancelled);
  EXPECT_EQ(slots[1]->value(), (Exit{0, SIGTERM}));
  EXPECT_EQ(slots[2]->value(), (Exit{0, SIGTERM}));
}

// Starts a child, tells its pid, and dies without a word.
[[noreturn]] void die_beside_child(int tell) {
  Loop loop;
  MachineProcesses processes(loop.runtime());
  ProcessSpec spec;
  spec.arguments = {"/bin/sleep", "100"};
  auto process = loop.run(processes.start(std::move(spec)));
  int pid = process ? (*process)->pid() : -1;
  ssize_t told = ::write(tell, &pid, sizeof pid);
  ::kill(::getpid(), told > 0 ? SIGKILL : SIGABRT);
  ::_exit(1);
}

TEST_F(ProcessesTest, AChildDiesWithUs) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // so that the orphan comes to us
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int middle = fork();
  if (middle == 0) die_beside_child(ends[1]);
  close(ends[1]);
  int orphan = -1;
  ASSERT_EQ(read(ends[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  close(ends[0]);
  ASSERT_GT(orphan, 0);
  int status = 0;
  ASSERT_EQ(waitpid(middle, &status, 0), middle);
  ASSERT_EQ(waitpid(orphan, &status, 0), orphan);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(ProcessesTest, RunsAsAnotherUserOrSaysThatItMayNot) {
  auto spec = shell("id -u; id -g; id -G");
  spec.run_as = ProcessSpec::Identity{65534, 65533};
  auto exit = run(std::move(spec));
  if (geteuid() == 0) {
    ASSERT_TRUE(exit) << exit.error().text();
    EXPECT_THAT(out_, ElementsAre("65534", "65533", "65533"));
  } else {
    ASSERT_FALSE(exit);
    EXPECT_THAT(exit.error().text(), HasSubstr("change user and group"));
  }
}

TEST_F(ProcessesTest, EntersNamespaces) {
  int ready[2];
  int leave[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(leave, O_CLOEXEC), 0);
  const int holder = fork();
  if (holder == 0) {
    bool made = unshare(CLONE_NEWUSER | CLONE_NEWUTS) == 0 && sethostname("inside", 6) == 0;
    char byte = made ? 'y' : 'n';
    close(leave[1]);
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    _exit(read(leave[0], &byte, 1) == 0 ? 0 : 1);
  }
  char made = 0;
  ASSERT_EQ(read(ready[0], &made, 1), 1);
  std::optional<Result<Exit>> exit;
  if (made == 'y') {
    const auto folder = "/proc/" + std::to_string(holder) + "/ns/";
    Fd user(open((folder + "user").c_str(), O_RDONLY | O_CLOEXEC));
    Fd uts(open((folder + "uts").c_str(), O_RDONLY | O_CLOEXEC));
    auto spec = shell("uname -n");
    spec.enter = {{user.get(), CLONE_NEWUSER}, {uts.get(), CLONE_NEWUTS}};
    exit = run(std::move(spec));
  }
  for (int fd : {ready[0], ready[1], leave[0], leave[1]}) close(fd);
  waitpid(holder, nullptr, 0);
  if (made != 'y') GTEST_SKIP() << "this kernel lets us make no user namespace";
  ASSERT_TRUE(*exit) << exit->error().text();
  EXPECT_THAT(out_, ElementsAre("inside"));
}

}  // namespace
}  // namespace quorate::rt

#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/fd.h"

namespace quorate::support {

// How a process ended: with an exit code, or by a signal.
struct ExitStatus {
  int code = 0;
  int signal = 0;

  [[nodiscard]] bool ok() const { return code == 0 && signal == 0; }
  [[nodiscard]] std::string text() const;  // "exit 1", "signal 9"
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
  friend std::ostream& operator<<(std::ostream& out, const ExitStatus& status) {
    return out << status.text();
  }
};

// What to run. The environment is small and the same on every machine: PATH, TMPDIR and the
// sanitizers' options are inherited, `env` is added. (ETCD_*, KUBECONFIG or a proxy of the person
// who runs the tests must not reach the parts.)
struct Command {
  std::vector<std::string> argv;  // argv[0] is a path, or a name that PATH knows
  std::map<std::string, std::string> env = {};
  std::filesystem::path cwd = {};  // empty: the caller's
  std::filesystem::path log = {};  // Process: both outputs are appended to it; empty: dropped
  std::string input = {};          // what the process reads from its standard input
};

// A child process, leader of its own process group, that the test does not outlive: it is killed by
// the destructor, by the kernel when the main thread ends, and by the guard (guard.h) with its
// whole group however the program ends.
//
// Start it from the main thread: the kernel's signal is bound to the thread that forked. start()
// throws elsewhere. All calls belong to that thread.
class Process {
 public:
  // Throws FixtureError; also when the program cannot be executed.
  static Process start(const Command& command);

  Process(Process&&) noexcept = default;
  Process& operator=(Process&&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running();

  // How it ended, once it has; nothing if it still runs after `within`.
  std::optional<ExitStatus> wait(std::chrono::milliseconds within);

  // SIGTERM, and SIGKILL to the group where that was not enough in time. Also ends a paused
  // process. What is left of the group is killed too. Harmless when it has ended already.
  ExitStatus stop(std::chrono::milliseconds grace = std::chrono::seconds(10));
  // SIGKILL to the group: a crash.
  ExitStatus kill();

  // SIGSTOP to the group: hangs, and keeps its connections open. Every thread of the process itself
  // has stopped when this returns.
  void pause();
  void resume();            // SIGCONT
  void signal(int number);  // to the process alone

 private:
  friend struct Output run(const Command& command, std::chrono::milliseconds within);
  struct Streams;
  Process(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  static Process start(const Command& command, const Streams& streams);
  void send(pid_t target, int number) const;
  bool ended(std::chrono::milliseconds within) const;
  ExitStatus reap();

  pid_t pid_;
  Fd pidfd_;
  std::optional<ExitStatus> status_;
};

// A descriptor that becomes readable when the process ends, of whomever it is a child. Throws
// FixtureError when there is no such process.
Fd open_pidfd(pid_t pid);

// What a finished command left.
struct Output {
  ExitStatus status;
  std::string out;
  std::string err;

  [[nodiscard]] bool ok() const { return status.ok(); }
};

// Runs a command to its end. Throws FixtureError when it does not end in time (it is killed then);
// an exit code other than 0 is the caller's to judge.
Output run(const Command& command, std::chrono::milliseconds within = std::chrono::seconds(60));

// The same for commands that have to succeed: throws with what the command said.
std::string run_or_throw(const Command& command);

// The last lines of a log, for messages about a process that did not do as expected.
std::string log_tail(const std::filesystem::path& log, std::size_t lines = 25);

}  // namespace quorate::support

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "tests/support/process.h"
#include "tests/support/wait.h"

namespace quorate::support {

// A server that a test starts and stops several times: the same name and log file, one process
// after another. By itself for programs of ours; base of the fixtures for the real parts.
class ServerProcess {
 public:
  ServerProcess(std::string name, std::filesystem::path log)
      : name_(std::move(name)), log_(std::move(log)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::filesystem::path& log() const { return log_; }
  [[nodiscard]] bool running() { return process_ && process_->running(); }
  [[nodiscard]] pid_t pid() { return last("tell the pid of").pid(); }

  // Starts a process; its output goes to log(). Throws FixtureError when one is running.
  void launch(Command command);
  // Looks until the server is ready. Throws FixtureError with the end of its log: at once when it
  // has ended, else when it is not ready in time.
  void await_ready(std::chrono::milliseconds within, const std::function<Look()>& look);
  // How it ends by itself. Throws FixtureError when it does not in time.
  ExitStatus wait_for_exit(std::chrono::milliseconds within);

  ExitStatus stop() { return last("stop").stop(); }  // SIGTERM; SIGKILL after a grace period
  ExitStatus kill() { return last("kill").kill(); }  // SIGKILL: a crash
  void pause() { last("pause").pause(); }            // SIGSTOP: hangs, connections stay open
  void resume() { last("resume").resume(); }

 private:
  Process& last(const char* operation);  // throws when none was ever started

  std::string name_;
  std::filesystem::path log_;
  std::optional<Process> process_;
};

}  // namespace quorate::support

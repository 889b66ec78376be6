#include "tests/support/server_process.h"

#include <fmt/format.h>

#include "tests/support/fixture_error.h"

namespace quorate::support {

ExitStatus ServerProcess::wait_for_exit(std::chrono::milliseconds within) {
  if (const auto status = last("wait for").wait(within)) return *status;
  throw FixtureError(
      fmt::format("{} still runs after {} ms; {}", name_, within.count(), log_tail(log_)));
}

void ServerProcess::launch(Command command) {
  if (running()) throw FixtureError("start " + name_ + ": it runs already");
  command.log = log_;
  process_.reset();
  process_.emplace(Process::start(command));
}

void ServerProcess::await_ready(std::chrono::milliseconds within,
                                const std::function<Look()>& look) {
  try {
    eventually(within, name_ + " is ready", [&] {
      if (const auto status = last("wait for").wait(std::chrono::milliseconds(0)))
        throw FixtureError(name_ + " ended before it was ready: " + status->text());
      return look();
    });
  } catch (const FixtureError& error) {
    throw FixtureError(fmt::format("{}; {}", error.what(), log_tail(log_)));
  }
}

Process& ServerProcess::last(const char* operation) {
  if (!process_) throw FixtureError(fmt::format("{} {}: it was never started", operation, name_));
  return *process_;
}

}  // namespace quorate::support

#pragma once

#include <memory>

#include "rt/clock.h"
#include "rt/exit.h"
#include "rt/fd.h"

namespace quorate::rt {

// A child process of ours by its pidfd, from its start until its exit status has been collected.
//
// It has ended when the kernel says so in answer to a question, never because a wait for its pidfd
// came back. Such a wait may come back early: the reactor hands an event that was fetched for a
// descriptor that is closed meanwhile to the descriptor that took its place.
class Child {
 public:
  Child(Runtime runtime, int pid, Fd pidfd);
  ~Child();
  Child(Child&&) noexcept;
  Child& operator=(Child&&) noexcept;

  int pid() const { return pid_; }
  // To this process alone. Without effect once it has ended: the pidfd is nobody else's.
  void signal(int number);

  // Ok only if it has ended, so that collect() tells how. kTimeout, kCancelled: it runs on. One
  // fiber at a time.
  [[nodiscard]] Task<Result<void>> until_ended(Deadline deadline);
  // How it ended; to be asked once, since then its number is free. kUnavailable while it runs.
  [[nodiscard]] Result<Exit> collect();
  // Both.
  [[nodiscard]] Task<Result<Exit>> wait(Deadline deadline);
  // SIGKILL, and waits. A cancelled fiber may call it, and it is carried through. kTimeout if even
  // that does not end it within half a minute: a process may hang in the kernel.
  [[nodiscard]] Task<Result<Exit>> kill();

 private:
  Task<Result<void>> watch();
  Task<Result<Exit>> end();

  struct Pidfd;
  Runtime runtime_;
  int pid_;
  std::unique_ptr<Pidfd> pidfd_;
};

}  // namespace quorate::rt

#pragma once

#include <memory>

#include "base/result.h"
#include "rt/clock.h"

namespace quorate::net {

// An open non-blocking descriptor that fibers wait on. Owns it. No fiber may be waiting when it
// goes.
class Socket {
 public:
  Socket(rt::Runtime runtime, int fd);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }
  const rt::Runtime& runtime() const { return runtime_; }

  enum class Direction { kRead, kWrite };
  // Ok when the descriptor is ready or `wake` was called: the caller looks at its own state again.
  // kTimeout at the deadline, kCancelled if the fiber is told to stop. Several fibers may wait.
  [[nodiscard]] Task<Result<void>> wait(Direction direction, rt::Deadline deadline);

  // Ends the waits that are under way. They return later, not inside this call.
  void wake();

 private:
  Task<Result<void>> wait_long(Direction direction);

  rt::Runtime runtime_;
  int fd_;
  struct Descriptor;
  std::unique_ptr<Descriptor> descriptor_;
};

// kUnavailable: a system call on a connection failed. Unlike errno_error it carries no status,
// which here is the other side's word alone.
Error broken_connection(std::string_view operation, int number);

// Lets the other fibers run: for loops that could go on for long without a wait.
[[nodiscard]] Task<Result<void>> yield();

}  // namespace quorate::net

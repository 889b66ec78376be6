#pragma once

// Internal: fork, and what the child does until it is the program.

#include "base/result.h"
#include "rt/fd.h"
#include "rt/processes.h"

namespace quorate::rt::detail {

struct ChildProcess {
  int pid = -1;
  Fd pidfd;            // readable when it has ended
  Fd standard_output;  // set for Lines; non-blocking
  Fd standard_error;
};

// Blocks until the program runs: a few milliseconds.
Result<ChildProcess> fork_child(const ProcessSpec& spec);

}  // namespace quorate::rt::detail

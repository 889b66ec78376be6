#pragma once

#include <cstdint>

#include "base/result.h"
#include "rt/fd.h"

namespace quorate::node {

struct TerminalSize {
  std::uint16_t columns = 80;
  std::uint16_t rows = 24;
};

// A pseudo-terminal. What is written to the person's end the program reads, with the line
// discipline between them: ^C interrupts it.
struct Terminal {
  rt::Fd person;   // does not block; reads fail with EIO once no program has its end any more
  rt::Fd program;  // all of its standard streams (spawn.h)

  [[nodiscard]] static Result<Terminal> open();
};

// The program is told by SIGWINCH. `person` is that end of the terminal.
[[nodiscard]] Result<void> resize_terminal(int person, TerminalSize size);

}  // namespace quorate::node

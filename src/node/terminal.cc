#include "node/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstdlib>

#include "rt/exec.h"

namespace quorate::node {

Result<Terminal> Terminal::open() {
  rt::Fd person(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!person || ::unlockpt(person.get()) != 0) return fail(errno_error("open a terminal", errno));
  // By the other end, not by its name: which names there are depends on what is mounted.
  rt::Fd program(::ioctl(person.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!program) return fail(errno_error("open a terminal", errno));
  TRY(program, rt::above_standard_streams(std::move(program)));
  TRY(resize_terminal(person.get(), {}));
  return Terminal{std::move(person), std::move(program)};
}

Result<void> resize_terminal(int person, TerminalSize size) {
  winsize window{};
  window.ws_col = size.columns;
  window.ws_row = size.rows;
  if (::ioctl(person, TIOCSWINSZ, &window) != 0)
    return fail(errno_error("resize a terminal", errno));
  return {};
}

}  // namespace quorate::node

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rt/fd.h"

namespace quorate::rt {

// What every child of ours has in common on its way from fork or clone to its program. Between the
// two it makes system calls and nothing else, because another thread may hold any lock: everything
// that it needs is made before.

// Both ends are above the standard streams, so that a child can put those in place in any order,
// and are closed when a program starts.
struct Pipe {
  Fd read;
  Fd write;
};
[[nodiscard]] Result<Pipe> make_pipe();
// `fd`, or a copy of it with a higher number.
[[nodiscard]] Result<Fd> above_standard_streams(Fd fd);

// A program, its arguments and its environment, borrowed. The first argument is a path, or a name
// to be found in the PATH of that environment.
class Exec {
 public:
  Exec(const std::vector<std::string>& arguments, const std::vector<std::string>& environment);
  // Becomes the program, with no descriptor but the standard streams. Returns only if that failed;
  // errno says why.
  void become() const;

 private:
  std::vector<char*> arguments_;
  std::vector<char*> environment_;
  std::vector<std::string> candidates_;  // where the program may be
};

// In the child: none is ignored, blocked or caught.
void reset_signals();

}  // namespace quorate::rt

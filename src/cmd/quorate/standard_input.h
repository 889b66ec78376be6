#pragma once

#include <optional>
#include <string>

#include "rt/cpu_pool.h"
#include "rt/fd.h"

namespace quorate::cmd {

// What comes on standard input, read beside all else. The descriptor is left as it is: its flags
// are shared with the shell that gave it, and files cannot be waited for. So a thread waits.
class StandardInput {
 public:
  explicit StandardInput(rt::Runtime runtime);

  // The next piece; nothing at the end. kCancelled once it was stopped.
  [[nodiscard]] Task<Result<std::optional<std::string>>> read();
  // Ends a read that is under way. To be called before a fiber that reads is cancelled.
  void stop();

 private:
  rt::Fd stopped_;  // an eventfd
  rt::CpuPool pool_;
};

}  // namespace quorate::cmd

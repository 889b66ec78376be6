#pragma once

#include <string>

namespace quorate::rt {

// How a process ended.
struct Exit {
  int code = 0;
  int signal = 0;  // 0 if it ended by itself

  bool ok() const { return code == 0 && signal == 0; }
  std::string text() const;  // `exited with code 3`, `killed by signal 9`
  friend bool operator==(const Exit&, const Exit&) = default;
};

}  // namespace quorate::rt

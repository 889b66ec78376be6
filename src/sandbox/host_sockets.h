#pragma once

#include <cstdint>

#include "base/result.h"
#include "rt/fd.h"

namespace quorate::sandbox {

// Opens listeners on the host's loopback for a process that has gone into a fabric, from where it
// could not do so any more. A small process does it that stays outside; it ends with its maker,
// however that ends.
class HostSockets {
 public:
  // To be called outside, while the process has one thread.
  [[nodiscard]] static Result<HostSockets> make();

  // Listens at 127.0.0.1; 0: at any free port. kConflict if somebody has the port.
  [[nodiscard]] Result<rt::Fd> listen(std::uint16_t port);

 private:
  explicit HostSockets(rt::Fd channel) : channel_(std::move(channel)) {}
  rt::Fd channel_;
};

}  // namespace quorate::sandbox

#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/log.h"
#include "base/result.h"
#include "net/socket.h"
#include "node/services.h"
#include "rt/fd.h"
#include "rt/group.h"

namespace quorate::node {

// A TCP socket that listens at the address, in the network namespace of the calling thread.
// kConflict if somebody else has it.
[[nodiscard]] Result<rt::Fd> listen_at(SocketAddress where);
[[nodiscard]] SocketAddress local_address(int socket);

// Where the next caller is to be led; nothing: it is refused.
using PickBackend = std::function<std::optional<SocketAddress>()>;

// Accepts callers on a listener and joins each with a backend, byte by byte, until both have ended.
// A backend that does not answer soon is passed over for the next one in turn.
// The backend is reached from the network namespace of the calling thread, whichever the listener
// was opened in: that is how the host's loopback reaches into a fabric.
//
// At most `kMaxCallers` at once; more wait in the kernel's queue.
class Relay {
 public:
  static constexpr int kMaxCallers = 512;

  Relay(rt::Runtime runtime, rt::Fd listener, PickBackend pick, Log log = {});

  // Until cancelled, when calls under way are cut, or until they have ended after stop().
  Task<void> run();
  // No more callers; the listener is closed soon after.
  void stop();

 private:
  Task<Result<std::unique_ptr<net::Socket>>> reach_backend();
  Task<void> serve(std::unique_ptr<net::Socket> caller);
  Task<Result<void>> copy(net::Socket& from, net::Socket& to);
  Task<void> copy_or_break(net::Socket& from, net::Socket& to);

  rt::Runtime runtime_;
  std::unique_ptr<net::Socket> listener_;
  bool stopping_ = false;
  PickBackend pick_;
  Log log_;
  rt::TaskGroup calls_;
};

}  // namespace quorate::node

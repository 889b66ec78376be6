#pragma once

#include <memory>

#include "net/byte_stream.h"
#include "net/server.h"
#include "rt/group.h"

namespace quorate::net {

// When a connection of the server last got on, for the one sweep that closes those that do not.
struct Liveness {
  Monotonic since;
  bool working = false;  // a handler is at it: take the time it needs
  bool expired = false;  // set by the sweep, with a wake of the stream
};

// What a connection needs of its server. Outlives it.
struct ServerSide {
  rt::Runtime runtime;
  const ServerOptions& options;
  Handler& handler;
  Log log;
};

// Who is at the other end, and whom it called.
struct ServerPeer {
  std::string address;
  std::string local;
  std::string certificate;
};

// Serves one connection until it ends, `liveness` expires or the fiber is cancelled. By then its
// handlers have ended. `first` was read from the stream already.
[[nodiscard]] Task<void> serve_h1(const ServerSide& side, ByteStream& stream, ServerPeer peer,
                                  Liveness& liveness, std::string first);
[[nodiscard]] Task<void> serve_h2(const ServerSide& side, ByteStream& stream, ServerPeer peer,
                                  Liveness& liveness, std::string first);

// The answer to what went wrong before or inside a handler.
[[nodiscard]] Response plain_answer(int status, std::string_view text);

}  // namespace quorate::net

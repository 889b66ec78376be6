#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/support/fd.h"

namespace quorate::support {

// An IPv4 address and a TCP port on loopback.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;

  [[nodiscard]] std::string text() const;  // "127.64.3.9:10007"
  [[nodiscard]] sockaddr_in address() const;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// This program's own loopback address, 127.64.0.0 plus its process id: programs that run side by
// side have different ones and so cannot meet on any port.
std::string own_address();

// A port on our own address that nothing listens on. It stays ours: it is handed out once, and lies
// below the range from which the kernel gives ports to others, so a server can be restarted on it.
// Throws FixtureError.
Endpoint free_endpoint();

// A connected TCP socket, or errno's text in a FixtureError.
Fd connect_to(const Endpoint& endpoint, std::chrono::milliseconds within = std::chrono::seconds(5));

// The TCP port that a process listens on: for servers that are started with port 0 and do not tell.
std::optional<std::uint16_t> listening_port(pid_t pid);

}  // namespace quorate::support

#pragma once

#include <string>

#include "net/socket.h"

namespace quorate::node {

// Bytes from and to any descriptor that a net::Socket waits on: from sockets, pipes and terminals,
// to sockets and terminals.

// What there is, at most `limit` bytes; empty at the end.
[[nodiscard]] Task<Result<std::string>> read_some(net::Socket& from, std::size_t limit,
                                                  rt::Deadline deadline);
// So many bytes; fewer at the end.
[[nodiscard]] Task<Result<std::string>> read_exactly(net::Socket& from, std::size_t count,
                                                     rt::Deadline deadline);
// All of it.
[[nodiscard]] Task<Result<void>> write_fully(net::Socket& to, std::string bytes,
                                             rt::Deadline deadline);

}  // namespace quorate::node

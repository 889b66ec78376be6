#pragma once

#include <memory>
#include <vector>

#include "net/address.h"
#include "net/socket.h"

namespace quorate::net {

// A connected TCP socket (non-blocking, no delay). The addresses are tried one after the other,
// each with its share of the time. kUnavailable if none answers, with what the last one said;
// kTimeout at the deadline.
[[nodiscard]] Task<Result<std::unique_ptr<Socket>>> connect(rt::Runtime runtime,
                                                            std::vector<Address> addresses,
                                                            rt::Deadline deadline);
// The same with all addresses of a host.
[[nodiscard]] Task<Result<std::unique_ptr<Socket>>> connect(rt::Runtime runtime, std::string host,
                                                            std::uint16_t port,
                                                            rt::Deadline deadline);

}  // namespace quorate::net

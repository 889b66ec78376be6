#pragma once

#include <string>
#include <vector>

#include "net/resolver_config.h"
#include "rt/clock.h"

namespace quorate::net {

// All addresses of a host, in the order to try them: IPv4 first. An address text stands for itself,
// then comes the hosts file, then DNS, without a thread and without blocking. kUnavailable if there
// is none: names come and go with what they name. kTimeout at the deadline.
[[nodiscard]] Task<Result<std::vector<Address>>> resolve(rt::Runtime runtime, std::string host,
                                                         std::uint16_t port, rt::Deadline deadline);
[[nodiscard]] Task<Result<std::vector<Address>>> resolve(rt::Runtime runtime, ResolverConfig config,
                                                         std::string host, std::uint16_t port,
                                                         rt::Deadline deadline);

}  // namespace quorate::net

#pragma once

#include <string>
#include <vector>

#include "net/address.h"
#include "rt/clock.h"

namespace quorate::net {

// All addresses of a host, in the order to try them. An address text stands for itself. kNotFound
// never: a name without addresses is kUnavailable, since names come and go with what they name.
[[nodiscard]] Task<Result<std::vector<Address>>> resolve(rt::Runtime runtime, std::string host,
                                                         std::uint16_t port, rt::Deadline deadline);

}  // namespace quorate::net

#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "tests/support/fd.h"

namespace quorate::support {

// The inodes of all sockets that a process has open.
std::set<std::string> sockets_of(pid_t process);

// Whether the other end of this loopback connection is held by one of these processes. The kernel
// is asked for that one socket and the processes for their descriptors, so it costs the same
// however many sockets there are. False when the other end is closed already. Throws FixtureError.
bool comes_from(const Fd& connection, const std::vector<pid_t>& processes);

}  // namespace quorate::support

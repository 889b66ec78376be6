#pragma once

#include <memory>

#include "etcd/api.h"
#include "etcd/pool.h"

namespace quorate::etcd {

// The real Api: gRPC over the pool's connections. Calls that need a leader say so to etcd, which
// then refuses at once (kNoLeader) where it would otherwise let them run into a time-out of unknown
// outcome. The pool outlives it.
std::unique_ptr<Api> make_client(Pool& pool);

}  // namespace quorate::etcd

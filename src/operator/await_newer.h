#pragma once

#include "kube/client.h"
#include "operator/memory.h"

namespace quorate::op {

// A write was refused because the object is not what our cache shows. What the server has instead
// is awaited like a write of ours: the next look begins when the cache shows it, and a watch that
// stays silent about it is opened anew, instead of being believed for as long as it lives.
Task<void> await_newer(kube::Client& client, kube::Resource resource, ObjectKey key,
                       kube::StoreBase& store, ClusterMemory& memory, rt::Deadline deadline);

}  // namespace quorate::op

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace quorate::sim {

// What operators asked of the API server, in the order in which it took the
// requests. Only ever added to: invariants read it.
struct Audit {
  struct Entry {
    Monotonic at;
    std::string actor;
    std::string method;
    std::string path;  // without its query
    std::string body;  // of writes
    int status = 0;
    std::uint64_t effect = 0;  // its number among the side effects; 0 = none
    std::string lease_holder;  // by the Lease, when the request was taken; writes alone
  };
  std::vector<Entry> entries;
};

}  // namespace quorate::sim

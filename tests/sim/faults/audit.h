#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace quorate::sim {

// What operators asked of the API server, in the order in which it took the requests, and of
// members. Only ever added to: invariants read it.
struct Audit {
  struct Entry {
    Monotonic at;
    std::string actor;
    std::string method;
    std::string path;     // without its query
    bool cached = false;  // a read that lets the server answer with what it remembers
    std::string body;     // of writes
    int status = 0;
    std::uint64_t effect = 0;  // its number among the side effects; 0 = none
    std::string lease_holder;  // by the Lease, when the request was taken; writes alone
  };
  // A call that changes an etcd cluster.
  struct Change {
    Monotonic at;
    Monotonic deadline;                     // nothing of the call is under way after it
    Monotonic answered = Monotonic::max();  // until its caller has an answer, or gave up, or died
    std::string actor;
    std::string operation;  // remove member
    std::string endpoint;
    MemberId member;  // that it speaks of, if it names one
    std::uint64_t effect = 0;
    bool done = false;
    bool unknown = false;      // the outcome, to its caller: whatever the member made of it
    Monotonic listed{};        // when its actor had last asked for a member list, and got one
    std::string lease_holder;  // by the Lease, when the call was sent
  };
  std::vector<Entry> entries;
  std::vector<Change> changes;
  // By actor and cluster: when the last member list was asked for that it got.
  std::map<std::pair<std::string, ClusterId>, Monotonic> listed;
};

}  // namespace quorate::sim

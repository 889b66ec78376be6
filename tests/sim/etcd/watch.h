#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tests/sim/etcd/mvcc.h"

namespace quorate::etcdsim {

// What a watch has to say and nobody has read yet. Shared by the member that writes and the client
// that reads; whichever goes first closes it.
struct WatchFeed {
  std::deque<etcd::WatchBatch> batches;
  std::optional<etcd::Reason> ended;
  bool closed = false;           // by the client
  std::function<void()> notify;  // by the member, when there is something new
};

// The watches of one member.
class Watchers {
 public:
  // From `request.start` on, or from now on.
  std::shared_ptr<WatchFeed> add(const etcd::WatchRequest& request, const Store& store);
  // Gives every watch what it has not seen yet.
  void advance(const Store& store, const etcd::Header& header);
  void report_progress(const WatchFeed* feed, const etcd::Header& header);
  void end_all(etcd::Reason why);
  bool empty() const { return watches_.empty(); }

 private:
  struct Watch {
    etcd::WatchRequest request;
    Revision next;
    std::shared_ptr<WatchFeed> feed;
  };
  std::vector<Watch> watches_;
};

}  // namespace quorate::etcdsim

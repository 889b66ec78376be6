#include "tests/sim/etcd/watch.h"

#include <algorithm>

namespace quorate::etcdsim {
namespace {

void tell(WatchFeed& feed) {
  if (feed.notify) feed.notify();
}

}  // namespace

std::shared_ptr<WatchFeed> Watchers::add(const etcd::WatchRequest& request, const Store& store) {
  const Revision now(store.revision().value() + 1);
  Watch watch{request, request.start.value() > 0 ? request.start : now,
              std::make_shared<WatchFeed>()};
  watches_.push_back(watch);
  return watch.feed;
}

void Watchers::advance(const Store& store, const etcd::Header& header) {
  std::erase_if(watches_, [](const Watch& watch) { return watch.feed->closed; });
  for (Watch& watch : watches_) {
    if (watch.feed->ended) continue;
    if (watch.next < store.compacted()) {
      watch.feed->ended = etcd::Reason::kCompacted;
      tell(*watch.feed);
      continue;
    }
    if (watch.next > store.revision()) continue;
    auto batches = store.events(watch.request.range, watch.next, watch.request.want_previous);
    watch.next = Revision(store.revision().value() + 1);
    for (auto& batch : batches) {
      const Revision revision = batch.header.revision;
      batch.header = header;
      batch.header.revision = revision;
      watch.feed->batches.push_back(std::move(batch));
    }
    if (!batches.empty()) tell(*watch.feed);
  }
}

void Watchers::report_progress(const WatchFeed* feed, const etcd::Header& header) {
  for (Watch& watch : watches_) {
    if (watch.feed.get() != feed) continue;
    watch.feed->batches.push_back({header, {}});
    tell(*watch.feed);
  }
}

void Watchers::end_all(etcd::Reason why) {
  for (Watch& watch : std::exchange(watches_, {})) {
    watch.feed->ended = why;
    tell(*watch.feed);
  }
}

}  // namespace quorate::etcdsim

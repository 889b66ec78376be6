// A watch stream, in pieces of any size: a store is fed or the stream is refused, and what the
// store holds is consistent with its indexes.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "json/stream.h"
#include "kube/store.h"
#include "kube/watch_events.h"
#include "rt/virtual_loop.h"

namespace {

using namespace quorate;

void check(const kube::Store<kube::MetaView>& store) {
  std::size_t seen = 0;
  store.for_each([&](const kube::MetaView& view) {
    ++seen;
    if (view.meta.key.name.empty() || store.find(view.meta.key).get() != &view) std::abort();
    for (const auto& owner : view.meta.owners()) {
      const auto owned = kube::borrow(store.owned_by(owner.uid));
      if (std::find(owned.begin(), owned.end(), &view) == owned.end()) std::abort();
    }
  });
  if (seen != store.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  rt::VirtualLoop loop(1);
  kube::Store<kube::MetaView> store(loop.actor("main"), {.indexed_labels = {"app"}});
  kube::WatchMachine machine({.streaming = (data[0] & 1) != 0});
  (void)machine.next();
  store.on_init();
  if (machine.state() == kube::WatchMachine::State::kInitPage) {
    (void)machine.on_page(ResourceVersion("10"), "");
    store.on_init_done(ResourceVersion("10"));
    (void)machine.next();
  }
  machine.on_opened(Monotonic());
  kube::WatchEvents events(machine, store);
  json::LineSplitter lines(1 << 16);
  const std::size_t piece = 1 + data[1];
  std::string_view rest(reinterpret_cast<const char*>(data + 2), size - 2);
  while (!rest.empty()) {
    auto taken =
        lines.push(rest.substr(0, piece), [&](json::PaddedView line) { return events.take(line); });
    if (!taken) {
      (void)machine.on_failure(taken.error(), Monotonic());
      break;
    }
    rest.remove_prefix(std::min(piece, rest.size()));
  }
  check(store);
  return 0;
}

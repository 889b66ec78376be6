// What one more watch costs: 100 watchers with an empty store each, on one connection, all idle.

#include "bench/kube_player.h"
#include "kube/store.h"
#include "operator/views.h"
#include "rt/group.h"

namespace quorate::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kWatches = 100;
constexpr auto kPatience = 5min;

struct Watch {
  Watch(rt::Runtime runtime, kube::Client& client)
      : store(runtime), watcher(runtime, client, kube::kPods, {}, store) {}
  kube::Store<op::PodView> store;
  kube::Watcher watcher;
};

Task<Result<void>> open_watch(rt::Runtime runtime, kube::Client& client, rt::TaskGroup& group,
                              std::vector<std::unique_ptr<Watch>>& watches) {
  auto& watch = *watches.emplace_back(std::make_unique<Watch>(runtime, client));
  group.spawn("watch", watch.watcher.run());
  co_return co_await watch.store.wait_until_synced(runtime.in(kPatience));
}

// The first pays for the connection, the TLS context and the code; those after it do not.
Task<Result<void>> measure(rt::Runtime runtime, kube::HttpApi& api, kube::Client& client,
                           rt::TaskGroup& group, std::vector<std::unique_ptr<Watch>>& watches) {
  CO_TRY(co_await open_watch(runtime, client, group, watches));
  const auto resident = resident_bytes();
  const auto cpu = cpu_seconds();
  for (int i = 0; i < kWatches; ++i) CO_TRY(co_await open_watch(runtime, client, group, watches));
  const auto counters = api.counters();
  if (counters.open_streams != kWatches + 1 || counters.open_connections != 1)
    co_return fail(Code::kInternal, fmt::format("{} streams on {} connections",
                                                counters.open_streams, counters.open_connections));
  print_figure("watch_stream", kibibytes(resident_bytes() - resident) / kWatches, "KiB");
  print_figure("watch_open_cpu", (cpu_seconds() - cpu) * 1e6 / kWatches, "us");
  co_return Result<void>();
}

Task<void> watch_streams(rt::Runtime runtime, kube::ClusterConfig config) {
  auto api = must(kube::HttpApi::make(runtime, std::move(config)));
  kube::Client client(runtime, *api);
  std::vector<std::unique_ptr<Watch>> watches;
  rt::TaskGroup group(runtime);
  auto measured = co_await measure(runtime, *api, client, group, watches);
  group.cancel();
  co_await group.join();
  co_await api->close();
  must(std::move(measured));
}

}  // namespace
}  // namespace quorate::bench

int main() {
  return quorate::bench::run_main([] {
    const quorate::bench::KubeServer server(0);
    quorate::rt::Loop loop;
    loop.run(quorate::bench::watch_streams(loop.runtime(), server.config()));
  });
}

// What it takes to know 30,000 Pods: the operator's own client, watcher, store and projection
// against a player that serves them over TLS and HTTP/2. `pages` lists them 500 at a time, then
// receives each once more as an event; `stream` takes them as the initial events of a watch.

#include <cstring>

#include "api/names.h"
#include "bench/kube_player.h"
#include "kube/store.h"
#include "operator/views.h"
#include "rt/group.h"

namespace quorate::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kClusters = 10'000;
constexpr int kPods = kClusters * ClusterObjects::kMembers;
constexpr auto kPatience = 10min;
// The allocator keeps what was freed for a moment before it gives it back.
constexpr auto kSettle = 500ms;

struct Reading {
  double cpu = cpu_seconds();
  std::int64_t resident = resident_bytes();
};

class ListPods {
 public:
  ListPods(rt::Runtime runtime, kube::Api& api, std::string mode)
      : runtime_(runtime),
        mode_(std::move(mode)),
        client_(runtime, api),
        store_(runtime, {{std::string(api::kLabelCluster)}, {}}),
        watcher_(runtime, client_, kube::kPods, watcher_options(), store_),
        modified_(runtime) {
    store_.subscribe([this](const kube::Store<op::PodView>::Change& change) {
      if (change.before && change.after && ++modifications_ == kPods) modified_.notify();
    });
  }

  Task<Result<void>> run() {
    // The connection is there before anything is counted: it is the price of a client, not of Pods.
    // Nobody watches yet, so this makes nobody send anything.
    CO_TRY(co_await touch());
    rt::TaskGroup group(runtime_);
    auto measured = co_await measure(group);
    group.cancel();
    co_await group.join();
    co_return measured;
  }

 private:
  kube::WatcherOptions watcher_options() const {
    kube::WatcherOptions options;
    options.what.label_selector =
        std::string(api::kLabelManagedBy) + "=" + std::string(api::kManagedBy);
    options.machine.streaming = mode_ == "stream";
    return options;
  }

  Task<Result<void>> touch() {
    CO_TRY(co_await client_.raw({"POST", "/touch", {}, ""}, runtime_.in(kPatience)));
    co_return Result<void>();
  }

  Task<Result<void>> measure(rt::TaskGroup& group) {
    reset_peak();
    const Reading before;
    const auto began = runtime_.clock->now();
    group.spawn("watch", watcher_.run());
    CO_TRY(co_await store_.wait_until_synced(runtime_.in(kPatience)));
    const std::chrono::duration<double> seconds = runtime_.clock->now() - began;
    const Reading synced;
    const auto peak = peak_bytes();
    CO_TRY(check());
    CO_TRY(co_await runtime_.clock->sleep_until(runtime_.in(kSettle).at));
    const auto kept = resident_bytes() - before.resident;

    const auto figure = [this](std::string_view what, double value, std::string_view unit) {
      print_figure(fmt::format("list_pods_{}_{}", mode_, what), value, unit);
    };
    figure("wall", seconds.count(), "s");
    figure("cpu", synced.cpu - before.cpu, "s");
    figure("rss_before", mebibytes(before.resident), "MiB");
    figure("rss_after", mebibytes(before.resident + kept), "MiB");
    figure("peak_growth", mebibytes(peak - before.resident), "MiB");
    figure("per_pod", static_cast<double>(kept) / kPods, "B");
    if (mode_ == "pages") CO_TRY(co_await measure_events());
    co_return Result<void>();
  }

  // Every Pod once more, as the events of a fleet in which everything changes.
  Task<Result<void>> measure_events() {
    const auto deadline = runtime_.in(kPatience);
    while (watcher_.health().watches == 0)
      CO_TRY(co_await runtime_.clock->sleep_until(runtime_.in(1ms).at));
    const Reading before;
    CO_TRY(co_await touch());
    while (modifications_ < kPods) CO_TRY(co_await modified_.wait(deadline));
    const Reading after;
    print_figure("watch_events", kPods / (after.cpu - before.cpu), "/CPU-s");
    CO_TRY(co_await runtime_.clock->sleep_until(runtime_.in(kSettle).at));
    print_figure("watch_events_growth", mebibytes(resident_bytes() - before.resident), "MiB");
    co_return Result<void>();
  }

  // A figure of Pods that were not all there, or not read, would be none.
  Result<void> check() const {
    if (store_.size() != kPods || !store_.unreadable().empty())
      return fail(Code::kInternal, fmt::format("{} Pods of {}, {} unreadable", store_.size(), kPods,
                                               store_.unreadable().size()));
    const auto last = store_.find({"tenant", "cluster-09999-2"});
    if (!last || !last->ready || !last->etcd.running || !last->identity ||
        store_.labelled(api::kLabelCluster, "cluster-09999").size() != ClusterObjects::kMembers)
      return fail(Code::kInternal, "a Pod was not read as it was sent");
    return {};
  }

  rt::Runtime runtime_;
  std::string mode_;
  kube::Client client_;
  kube::Store<op::PodView> store_;
  kube::Watcher watcher_;
  rt::Signal modified_;
  int modifications_ = 0;
};

Task<void> list_pods(rt::Runtime runtime, kube::ClusterConfig config, std::string mode) {
  auto api = must(kube::HttpApi::make(runtime, std::move(config)));
  auto listed = co_await ListPods(runtime, *api, mode).run();
  co_await api->close();
  must(std::move(listed));
}

}  // namespace
}  // namespace quorate::bench

int main(int count, char** words) {
  const std::string mode = count == 2 ? words[1] : "";
  if (mode != "pages" && mode != "stream") {
    std::fputs("usage: list_pods_bench pages|stream\n", stderr);
    return 2;
  }
  return quorate::bench::run_main([&mode] {
    const quorate::bench::KubeServer server(quorate::bench::kClusters);
    quorate::rt::Loop loop;
    loop.run(quorate::bench::list_pods(loop.runtime(), server.config(), mode));
  });
}

// What it takes to know everything of 10,000 clusters: the operator's own caches against a player
// that serves all that they watch.

#include "bench/kube_player.h"
#include "operator/caches.h"
#include "rt/group.h"

namespace quorate::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kClusters = 10'000;
constexpr auto kPatience = 10min;
// The allocator keeps what was freed for a moment before it gives it back.
constexpr auto kSettle = 500ms;

// A figure of objects that were not all there, or not read, would be none.
Result<void> check(const op::Caches& caches) {
  const ClusterObjects objects(kClusters);
  Result<void> complete;
  const auto hold = [&](const auto& store, const kube::Resource& kind) {
    const auto expected = static_cast<std::size_t>(objects.count(kind.plural));
    if (store.size() != expected || !store.unreadable().empty())
      complete =
          fail(Code::kInternal, fmt::format("{} {} of {}, {} unreadable", store.size(), kind.plural,
                                            expected, store.unreadable().size()));
  };
  hold(caches.clusters, kube::kEtcdClusters);
  hold(caches.records, kube::kEtcdMembers);
  hold(caches.claims, kube::kPersistentVolumeClaims);
  hold(caches.pods, kube::kPods);
  hold(caches.services, kube::kServices);
  hold(caches.budgets, kube::kPodDisruptionBudgets);
  hold(caches.secrets, kube::kSecrets);
  const auto record = caches.records.find({"tenant", "cluster-09999-2"});
  const auto secret = caches.secrets.find({"tenant", "cluster-09999-peer-tls"});
  if (!record || !record->undecodable.empty() || !secret || !secret->certificate)
    complete = fail(Code::kInternal, "an object was not read as it was sent");
  return complete;
}

Task<Result<void>> measure(rt::Runtime runtime, kube::Client& client, op::Caches& caches,
                           rt::TaskGroup& group) {
  // The connection is there before anything is counted.
  CO_TRY(co_await client.raw({"POST", "/touch", {}, ""}, runtime.in(kPatience)));
  const auto resident = resident_bytes();
  const auto cpu = cpu_seconds();
  caches.start(group);
  CO_TRY(co_await caches.wait_until_synced(runtime.in(kPatience)));
  print_figure("objects_of_10000_clusters_cpu", cpu_seconds() - cpu, "s");
  CO_TRY(co_await runtime.clock->sleep_until(runtime.in(kSettle).at));
  print_figure("objects_of_10000_clusters", mebibytes(resident_bytes() - resident), "MiB");
  co_return check(caches);
}

Task<void> cluster_objects(rt::Runtime runtime, kube::ClusterConfig config) {
  auto api = must(kube::HttpApi::make(runtime, std::move(config)));
  kube::Client client(runtime, *api);
  op::Caches caches(runtime, client, {}, {});
  rt::TaskGroup group(runtime);
  auto measured = co_await measure(runtime, client, caches, group);
  group.cancel();
  co_await group.join();
  co_await api->close();
  must(std::move(measured));
}

}  // namespace
}  // namespace quorate::bench

int main() {
  return quorate::bench::run_main([] {
    const quorate::bench::KubeServer server(quorate::bench::kClusters);
    quorate::rt::Loop loop;
    loop.run(quorate::bench::cluster_objects(loop.runtime(), server.config()));
  });
}

#include "cli/perform.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/ages.h"
#include "cli/status_page.h"

namespace quorate::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kCall = 20s;
constexpr Duration kBetweenLooks = 500ms;

bool in_place(const op::ClusterView& cluster, std::int64_t generation) {
  const auto& status = cluster.status;
  if (!status || cluster.meta.generation < generation) return false;
  if (cluster.declared && cluster.declared->paused)
    return std::any_of(status->waiting.begin(), status->waiting.end(),
                       [](const auto& entry) { return entry.reason == "Paused"; });
  return status->observed_generation >= generation;
}

std::string progress(const op::ClusterView& cluster) {
  const auto health = health_of(cluster);
  if (!cluster.status || cluster.status->ready.empty()) return health.text;
  return fmt::format("{}  {}", cluster.status->ready, health.text);
}

}  // namespace

Task<Result<void>> perform(rt::Runtime runtime, kube::Client& client, ObjectKey key, Act act,
                           PerformOptions options, Tell tell) {
  if (!act.needed()) {
    tell(act.doing);
    co_return Result<void>();
  }
  auto written = co_await client.patch(kube::kEtcdClusters, key, kube::PatchKind::kMerge, act.patch,
                                       runtime.in(kCall), {.dry_run = options.dry_run});
  if (!written) co_return fail(std::move(written).error().in(act.doing));
  CO_TRY(auto cluster, written->as<op::ClusterView>());
  tell(act.doing + (options.dry_run ? " (dry run: nothing was stored)" : ""));
  if (options.dry_run || !options.wait) co_return Result<void>();
  co_return co_await wait_until_in_place(runtime, client, key, cluster.meta.generation,
                                         *options.wait, std::move(tell));
}

Task<Result<void>> wait_until_in_place(rt::Runtime runtime, kube::Client& client, ObjectKey key,
                                       std::int64_t generation, Duration patience, Tell tell) {
  const auto deadline = runtime.in(patience);
  std::string told;
  for (;;) {
    auto object = co_await client.get(kube::kEtcdClusters, key, runtime.in(kCall));
    if (!object && object.error() == Code::kNotFound) co_return fail(std::move(object).error());
    if (object) {
      CO_TRY(auto cluster, object->as<op::ClusterView>());
      if (auto now = progress(cluster); now != told) tell(told = std::move(now));
      if (in_place(cluster, generation)) co_return Result<void>();
    } else if (auto now = object.error().text(); now != told) {
      tell(told = std::move(now));
    }
    if (deadline.passed(*runtime.clock))
      co_return fail(Code::kTimeout,
                     fmt::format("{} is not in place after {}: {}. It goes on by itself; quorate "
                                 "why -n {} {} says what it waits for",
                                 key.text(), age(patience), told, key.ns, key.name));
    CO_TRY(co_await runtime.clock->sleep_until(runtime.in(kBetweenLooks).at));
  }
}

Task<Result<void>> wait_until_gone(rt::Runtime runtime, kube::Client& client, ObjectKey key,
                                   Uid uid, Duration patience, Tell tell) {
  const auto deadline = runtime.in(patience);
  std::string told;
  for (;;) {
    auto object = co_await client.get(kube::kEtcdClusters, key, runtime.in(kCall));
    if (!object && object.error() == Code::kNotFound) co_return Result<void>();
    CO_TRY(auto found, std::move(object));
    CO_TRY(auto cluster, found.as<op::ClusterView>());
    if (cluster.meta.uid != uid) co_return Result<void>();
    if (auto now = progress(cluster); now != told) tell(told = std::move(now));
    if (deadline.passed(*runtime.clock))
      co_return fail(Code::kTimeout, fmt::format("{} is still there after {}: {}", key.text(),
                                                 age(patience), told));
    CO_TRY(co_await runtime.clock->sleep_until(runtime.in(kBetweenLooks).at));
  }
}

}  // namespace quorate::cli

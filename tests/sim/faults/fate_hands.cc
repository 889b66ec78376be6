// What other hands do to objects, and what the user does to the declaration.

#include "api/names.h"
#include "apiserver/registry.h"
#include "apiserver/verbs.h"
#include "base/check.h"
#include "operator/options.h"
#include "tests/sim/faults/fate.h"
#include "tests/sim/world.h"

namespace quorate::sim {

void Fate::meddle(const Fault& fault) {
  auto& verbs = world_.api().verbs();
  const auto& registry = world_.api().registry();
  const auto& built_in = registry.built_in();
  if (fault.kind == FaultKind::kDeleteLease) {
    auto done = verbs.remove(*built_in.leases, op::OperatorOptions().lease);
    static_cast<void>(done);
    return;
  }
  const auto pods = world_.member_pods();
  if (pods.empty()) return;
  const auto& pod = pods[static_cast<std::size_t>(fault.target) % pods.size()];
  const auto* records = registry.find("quorate.io", "v1alpha1", "etcdmembers");
  const auto* clusters = registry.find("quorate.io", "v1alpha1", "etcdclusters");
  // Whatever the API answers: other hands may fail, too.
  if (fault.kind == FaultKind::kDeletePod) {
    auto done = verbs.remove(*built_in.pods, pod);
    static_cast<void>(done);
  } else if (fault.kind == FaultKind::kLoseVolume) {
    auto claim = verbs.remove(*built_in.claims, {pod.ns, "data-" + pod.name});
    auto done = verbs.remove(*built_in.pods, pod);
    static_cast<void>(claim);
    static_cast<void>(done);
  } else if (fault.kind == FaultKind::kEvictPod) {
    auto done = verbs.evict(pod, {});
    static_cast<void>(done);
  } else if (fault.kind == FaultKind::kDeleteRecord) {
    auto done = verbs.remove(*records, pod);
    static_cast<void>(done);
  } else if (fault.kind == FaultKind::kWipeStatus) {
    for (const auto& name : world_.declared()) {
      apiserver::WriteOptions options;
      options.subresource = "status";
      auto done = verbs.patch(*clusters, {World::kNamespace, name}, apiserver::PatchType::kMerge,
                              json::Object{{"status", nullptr}}, options);
      static_cast<void>(done);
    }
  } else {
    const json::Value dropped = json::Object{
        {"metadata", json::Object{{"labels", json::Object{{"quorate.io/serving", nullptr}}}}}};
    auto done = verbs.patch(*built_in.pods, pod, apiserver::PatchType::kMerge, dropped);
    static_cast<void>(done);
  }
}

void Fate::rewind_status(const Fault& fault) {
  const auto* clusters =
      world_.api().registry().find_kind(api::kApiVersion, api::kClusterKind.kind);
  for (const auto& name : world_.declared()) {
    const json::Value* then = nullptr;
    for (const auto& [at, whose, status] : statuses_)
      if (whose == name && (!then || at <= world_.elapsed() - fault.duration)) then = &status;
    const auto now = world_.cluster(name);
    if (!then || !now) continue;
    json::Value object = *now;
    object.as_object()["status"] = *then;
    apiserver::WriteOptions options;
    options.subresource = "status";
    auto done = world_.api().verbs().update(*clusters, {World::kNamespace, name}, std::move(object),
                                            options);
    static_cast<void>(done);
  }
}

void Fate::inflict_on_cluster(const Fault& fault) {
  const auto names = world_.declared();
  if (names.empty()) return;
  const auto& name = names.front();
  const auto object = world_.cluster(name);
  auto removed = world_.remove(name);
  static_cast<void>(removed);
  if (fault.kind == FaultKind::kDeleteCluster) return;
  until_over(fault, [this, name, spec = *json::find(*object, "/spec")] {
    auto declared = world_.declare(name, spec);
    CHECK(declared.has_value(), "{}", declared.error().text());
  });
}

}  // namespace quorate::sim

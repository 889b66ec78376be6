#include "operator/live_objects.h"

#include "api/names.h"
#include "rt/group.h"

namespace quorate::op {
namespace {

// Into `out`, which outlives the call.
template <class View>
Task<Result<void>> read_list(kube::Client& client, kube::Resource resource, ClusterKey key,
                             Duration timeout, std::vector<View>& out) {
  kube::ListOptions what;
  what.ns = key.ns;
  what.label_selector = std::string(api::kLabelCluster) + "=" + key.name;
  json::Projector projector;
  const auto take = [&](json::PaddedView text) -> Result<void> {
    TRY(auto view, json::project<View>(projector, text));
    out.push_back(std::move(view));
    return {};
  };
  CO_TRY(co_await client.list(resource, what, timeout, take));
  co_return Result<void>();
}

Task<Result<void>> read_endpoints(kube::Client& client, ClusterKey key, Duration timeout,
                                  std::vector<std::string>& out) {
  CO_TRY(out, co_await op::read_endpoints(client, std::move(key), timeout));
  co_return Result<void>();
}

}  // namespace

Task<Result<std::vector<std::string>>> read_endpoints(kube::Client& client, ClusterKey key,
                                                      Duration timeout) {
  kube::ListOptions what;
  what.ns = key.ns;
  what.label_selector =
      std::string(api::kLabelServiceName) + "=" + api::client_service_name(key.name);
  std::vector<std::string> out;
  json::Projector projector;
  const auto take = [&](json::PaddedView text) -> Result<void> {
    TRY(auto view, json::project<EndpointsView>(projector, text));
    out.insert(out.end(), view.addresses.begin(), view.addresses.end());
    return {};
  };
  CO_TRY(co_await client.list(kube::kEndpointSlices, what, timeout, take));
  co_return out;
}

Task<Result<LiveObjects>> read_objects(rt::Runtime runtime, kube::Client& client, ClusterKey key,
                                       Duration timeout) {
  LiveObjects out;
  std::vector<Task<Result<void>>> lists;
  lists.push_back(read_list(client, kube::kEtcdMembers, key, timeout, out.records));
  lists.push_back(read_list(client, kube::kPersistentVolumeClaims, key, timeout, out.claims));
  lists.push_back(read_list(client, kube::kPods, key, timeout, out.pods));
  lists.push_back(read_list(client, kube::kServices, key, timeout, out.services));
  lists.push_back(read_list(client, kube::kPodDisruptionBudgets, key, timeout, out.budgets));
  lists.push_back(read_list(client, kube::kSecrets, key, timeout, out.secrets));
  lists.push_back(read_endpoints(client, key, timeout, out.endpoints));
  for (auto& read : co_await rt::all(runtime, std::move(lists))) CO_TRY(std::move(read));
  // Last: what was declared meanwhile is known, too.
  CO_TRY(auto cluster, co_await client.get(kube::kEtcdClusters, key, runtime.in(timeout)));
  CO_TRY(out.cluster, cluster.as<ClusterView>());
  co_return out;
}

}  // namespace quorate::op

#include "operator/live_objects.h"

#include "api/names.h"

namespace quorate::op {
namespace {

template <class View>
Task<Result<std::vector<View>>> read_list(kube::Client& client, kube::Resource resource,
                                          ClusterKey key, Duration timeout) {
  kube::ListOptions what;
  what.ns = key.ns;
  what.label_selector = std::string(api::kLabelCluster) + "=" + key.name;
  std::vector<View> out;
  json::Projector projector;
  const auto take = [&](json::PaddedView text) -> Result<void> {
    TRY(auto view, json::project<View>(projector, text));
    out.push_back(std::move(view));
    return {};
  };
  CO_TRY(co_await client.list(resource, what, timeout, take));
  co_return out;
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
  CO_TRY(out.records, co_await read_list<RecordView>(client, kube::kEtcdMembers, key, timeout));
  CO_TRY(out.claims,
         co_await read_list<ClaimView>(client, kube::kPersistentVolumeClaims, key, timeout));
  CO_TRY(out.pods, co_await read_list<PodView>(client, kube::kPods, key, timeout));
  CO_TRY(out.services, co_await read_list<ServiceView>(client, kube::kServices, key, timeout));
  CO_TRY(out.budgets,
         co_await read_list<BudgetView>(client, kube::kPodDisruptionBudgets, key, timeout));
  CO_TRY(out.secrets, co_await read_list<SecretView>(client, kube::kSecrets, key, timeout));
  CO_TRY(out.endpoints, co_await read_endpoints(client, key, timeout));
  // Last: what was declared meanwhile is known, too.
  CO_TRY(auto cluster, co_await client.get(kube::kEtcdClusters, key, runtime.in(timeout)));
  CO_TRY(out.cluster, cluster.as<ClusterView>());
  co_return out;
}

}  // namespace quorate::op

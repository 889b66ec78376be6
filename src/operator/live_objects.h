#pragma once

#include <vector>

#include "kube/client.h"
#include "operator/views.h"

namespace quorate::op {

// The objects of one cluster, as the caches would hold them: those that bear its name as a label,
// in its namespace.
struct LiveObjects {
  ClusterView cluster;
  std::vector<RecordView> records;
  std::vector<ClaimView> claims;
  std::vector<PodView> pods;
  std::vector<ServiceView> services;
  std::vector<BudgetView> budgets;
  std::vector<SecretView> secrets;
  std::vector<std::string> endpoints;
};

// The addresses that the EndpointSlices of the cluster's client Service hold, ready or not.
Task<Result<std::vector<std::string>>> read_endpoints(kube::Client& client, ClusterKey key,
                                                      Duration timeout);

// Reads them from the server, each list consistent by itself. kNotFound if the cluster is not
// there; a failure also if one of them cannot be read: who is about to do harm must know all.
Task<Result<LiveObjects>> read_objects(rt::Runtime runtime, kube::Client& client, ClusterKey key,
                                       Duration timeout);

}  // namespace quorate::op

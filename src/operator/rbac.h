#pragma once

#include <string>
#include <vector>

#include "json/document.h"

// What the operator may do, verb by verb: from one table come the manifests that grant it and the
// test that runs under exactly these.
namespace quorate::op {

struct RbacOptions {
  std::string operator_namespace = "quorate-system";  // where it runs and keeps its lease
  std::vector<std::string> watched_namespaces;        // empty: all
  std::string service_account = "quorate-operator";
};

// Namespace, ServiceAccount, Role and RoleBinding for the lease, and the rights over clusters: a
// ClusterRole with its binding, or a Role with its binding in each namespace that is watched.
[[nodiscard]] std::vector<json::Value> make_rbac(const RbacOptions& options);

}  // namespace quorate::op

#pragma once

#include <string>
#include <vector>

#include "json/document.h"
#include "operator/rbac.h"

// The objects by which the operator itself runs on Kubernetes, beside its rights: what `quorate
// manifests` prints, and what the kustomization and the Helm chart give, too.
namespace quorate::op {

struct InstallOptions {
  RbacOptions rbac;
  std::string image;  // holds quorate, its entry point, and /quorate-launch
  int replicas = 2;
  bool monitoring = false;        // monitors and alerts: needs the Prometheus operator
  bool admission_policy = false;  // nobody but the operator deletes members' records and claims
};

// Deployment, disruption budget, Service for metrics and NetworkPolicy; and what is optional.
[[nodiscard]] std::vector<json::Value> make_install(const InstallOptions& options);

}  // namespace quorate::op

#include "operator/rbac.h"

#include <initializer_list>

#include "api/names.h"

namespace quorate::op {
namespace {

struct Right {
  std::string_view group;
  std::string_view resource;
  std::initializer_list<std::string_view> verbs;
};

// Over clusters and what they are made of. Nothing is updated as a whole but status; nothing but
// Pods, claims and records is ever deleted.
const Right kClusterRights[] = {
    {api::kGroup, "etcdclusters", {"get", "list", "watch"}},
    {api::kGroup, "etcdclusters/status", {"update"}},
    {api::kGroup, "etcdmembers", {"get", "list", "watch", "create", "patch", "delete"}},
    {api::kGroup, "etcdmembers/status", {"update"}},
    {"", "pods", {"get", "list", "watch", "create", "patch", "delete"}},
    {"", "persistentvolumeclaims", {"get", "list", "watch", "create", "patch", "delete"}},
    {"", "services", {"get", "list", "watch", "create", "patch"}},
    {"", "secrets", {"get", "list", "watch", "create", "patch"}},
    {"policy", "poddisruptionbudgets", {"get", "list", "watch", "create", "patch", "delete"}},
    {"discovery.k8s.io", "endpointslices", {"list"}},
    {"events.k8s.io", "events", {"create", "patch"}},
};

// In its own namespace.
const Right kLeaseRights[] = {{"coordination.k8s.io", "leases", {"get", "create", "patch"}}};

template <std::size_t N>
json::Array rules(const Right (&rights)[N]) {
  json::Array out;
  for (const auto& right : rights) {
    json::Array verbs;
    for (auto verb : right.verbs) verbs.emplace_back(std::string(verb));
    out.push_back(json::Object{{"apiGroups", json::Array{std::string(right.group)}},
                               {"resources", json::Array{std::string(right.resource)}},
                               {"verbs", std::move(verbs)}});
  }
  return out;
}

json::Object head(std::string_view api_version, std::string_view kind, const std::string& ns,
                  std::string_view name) {
  json::Object metadata{{"name", name}};
  if (!ns.empty()) metadata["namespace"] = ns;
  metadata["labels"] = json::Object{{std::string(api::kLabelName), "quorate"},
                                    {std::string(api::kLabelComponent), "operator"}};
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

constexpr std::string_view kRbac = "rbac.authorization.k8s.io/v1";

void grant(std::vector<json::Value>& out, const RbacOptions& options, const std::string& ns,
           std::string_view name, json::Array what) {
  const bool everywhere = ns.empty();
  auto role = head(kRbac, everywhere ? "ClusterRole" : "Role", ns, name);
  role["rules"] = std::move(what);
  auto binding = head(kRbac, everywhere ? "ClusterRoleBinding" : "RoleBinding", ns, name);
  binding["roleRef"] = json::Object{{"apiGroup", "rbac.authorization.k8s.io"},
                                    {"kind", everywhere ? "ClusterRole" : "Role"},
                                    {"name", name}};
  binding["subjects"] = json::Array{json::Object{{"kind", "ServiceAccount"},
                                                 {"name", options.service_account},
                                                 {"namespace", options.operator_namespace}}};
  out.emplace_back(std::move(role));
  out.emplace_back(std::move(binding));
}

}  // namespace

std::vector<json::Value> make_rbac(const RbacOptions& options) {
  std::vector<json::Value> out;
  auto ns = head("v1", "Namespace", "", options.operator_namespace);
  ns["metadata"].as_object()["labels"].as_object()["pod-security.kubernetes.io/enforce"] =
      "restricted";
  out.emplace_back(std::move(ns));
  out.emplace_back(
      head("v1", "ServiceAccount", options.operator_namespace, options.service_account));
  grant(out, options, options.operator_namespace, "quorate-operator-lease", rules(kLeaseRights));
  auto watched = options.watched_namespaces;
  if (watched.empty()) watched.emplace_back();
  for (const auto& one : watched)
    grant(out, options, one, "quorate-operator", rules(kClusterRights));
  return out;
}

}  // namespace quorate::op

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace quorate::kube {

// One kind of object and where the API serves it. The texts are constants, so it is passed by
// value.
struct Resource {
  std::string_view group;  // empty: core
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool namespaced = true;

  // As objects name it: "v1", "policy/v1".
  [[nodiscard]] std::string api_version() const;
  // For messages: "pods", "leases.coordination.k8s.io".
  [[nodiscard]] std::string text() const;
  // "/api/v1", "/apis/policy/v1".
  [[nodiscard]] std::string root() const;
  // Of the collection; every namespace if `ns` is empty.
  [[nodiscard]] std::string path(std::string_view ns) const;
  // Of one object; key.ns is not looked at if the kind has no namespaces. The parts are escaped.
  [[nodiscard]] std::string path(const ObjectKey& key, std::string_view subresource = "") const;
};

bool operator==(const Resource& a, const Resource& b);

inline constexpr Resource kPods{"", "v1", "pods", "Pod", true};
inline constexpr Resource kServices{"", "v1", "services", "Service", true};
inline constexpr Resource kSecrets{"", "v1", "secrets", "Secret", true};
inline constexpr Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap", true};
inline constexpr Resource kServiceAccounts{"", "v1", "serviceaccounts", "ServiceAccount", true};
inline constexpr Resource kPersistentVolumeClaims{"", "v1", "persistentvolumeclaims",
                                                  "PersistentVolumeClaim", true};
inline constexpr Resource kPersistentVolumes{"", "v1", "persistentvolumes", "PersistentVolume",
                                             false};
inline constexpr Resource kNodes{"", "v1", "nodes", "Node", false};
inline constexpr Resource kNamespaces{"", "v1", "namespaces", "Namespace", false};
inline constexpr Resource kJobs{"batch", "v1", "jobs", "Job", true};
inline constexpr Resource kStorageClasses{"storage.k8s.io", "v1", "storageclasses", "StorageClass",
                                          false};
inline constexpr Resource kEvents{"events.k8s.io", "v1", "events", "Event", true};
inline constexpr Resource kLeases{"coordination.k8s.io", "v1", "leases", "Lease", true};
inline constexpr Resource kPodDisruptionBudgets{"policy", "v1", "poddisruptionbudgets",
                                                "PodDisruptionBudget", true};
inline constexpr Resource kEndpointSlices{"discovery.k8s.io", "v1", "endpointslices",
                                          "EndpointSlice", true};
inline constexpr Resource kCustomResourceDefinitions{
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false};
inline constexpr Resource kEtcdClusters{"quorate.io", "v1alpha1", "etcdclusters", "EtcdCluster",
                                        true};
inline constexpr Resource kEtcdMembers{"quorate.io", "v1alpha1", "etcdmembers", "EtcdMember", true};

// The resource of that kind in the table above; for objects that name their own kind (manifests).
[[nodiscard]] std::optional<Resource> find_resource(std::string_view api_version,
                                                    std::string_view kind);

// Builds the query of a path: `?limit=500&labelSelector=a%3Db`. Values are escaped, names are ours.
class Query {
 public:
  Query& add(std::string_view name, std::string_view value);
  Query& add_if(bool wanted, std::string_view name, std::string_view value);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// RFC 3986 percent-encoding of everything but unreserved characters.
[[nodiscard]] std::string escape(std::string_view text);

}  // namespace quorate::kube

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/refusal.h"
#include "apiserver/schema_kind.h"
#include "apiserver/table.h"
#include "base/result.h"
#include "json/document.h"
#include "json/patch.h"

namespace quorate::apiserver {

// A field that field selectors may name beside metadata.name and metadata.namespace.
struct SelectableField {
  std::string name;     // "status.phase"
  std::string pointer;  // "/status/phase"
  std::string absent;   // what an object without it is taken to have
};

// Where an autoscaling/v1 Scale is found in an object; JSON pointers.
struct ScalePaths {
  std::string replicas;         // "/spec/replicas"
  std::string status_replicas;  // "/status/replicas"
  std::string selector;         // "/status/selector", or empty
};

// What happens to dependents if a deletion does not say.
enum class DefaultPropagation {
  kBackground,
  kOrphan,
  kNone,  // they cannot have any, and what a deletion says of them is not heard
};

// One kind of object: where it is served, and the rules that the machinery keeps for it. What its
// fields may hold is the business of its rules.
struct Kind {
  std::size_t id = 0;  // its place in the registry; storage orders by it
  std::string group;   // empty: core
  std::string version;
  std::string plural;
  std::string singular;
  std::string kind;
  bool namespaced = true;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;

  bool has_status = false;                // the subresource status
  std::optional<ScalePaths> scale;        // the subresource scale
  std::vector<std::string> subresources;  // others: "eviction", "binding", "finalize"
  std::vector<SelectableField> selectable;
  bool graceful_deletion = false;  // Pods
  bool returns_deleted = false;    // a deletion answers with the object
  DefaultPropagation propagation = DefaultPropagation::kBackground;
  bool custom = false;               // from a CustomResourceDefinition
  json::MergeSchema merge;           // how strategic merge patches treat its lists
  const KindRules* rules = nullptr;  // what its fields may hold; never nullptr
  const Printer* printer = nullptr;  // its objects as rows of tables; never nullptr
  // Of a custom kind: its openAPIV3Schema, as it was declared.
  std::shared_ptr<const json::Value> declared;
  // Another kind whose objects these are, under other field names (events.k8s.io Events).
  const Kind* stored_as = nullptr;

  // "v1", "policy/v1".
  [[nodiscard]] std::string api_version() const;
  // In most messages: {"policy", "poddisruptionbudgets"}.
  [[nodiscard]] ResourceName resource() const { return {group, plural}; }
  // In Invalid messages: {"policy", "PodDisruptionBudget"}.
  [[nodiscard]] ResourceName kind_name() const { return {group, kind}; }
  // Whether all objects of a collection can be deleted at once.
  [[nodiscard]] bool deletes_collections() const {
    return !group.empty() || plural != "namespaces";
  }
  // Whose objects are kept.
  [[nodiscard]] const Kind& stored() const { return stored_as ? *stored_as : *this; }
};

// Which kinds there are. Kinds stay where they are in memory once added.
class Registry {
 public:
  // The built-in kinds.
  Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Serves the kinds of a CustomResourceDefinition document, each served version. kInvalid if it is
  // not one.
  Result<void> add_crd(const json::Value& crd);

  [[nodiscard]] const Kind* find(std::string_view group, std::string_view version,
                                 std::string_view plural) const;
  // By what objects call themselves: "policy/v1", "PodDisruptionBudget".
  [[nodiscard]] const Kind* find_kind(std::string_view api_version, std::string_view kind) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Kind>>& kinds() const { return kinds_; }

  // The built-in kinds by name, for those who know them.
  struct BuiltIn {
    const Kind* namespaces = nullptr;
    const Kind* nodes = nullptr;
    const Kind* pods = nullptr;
    const Kind* services = nullptr;
    const Kind* config_maps = nullptr;
    const Kind* secrets = nullptr;
    const Kind* service_accounts = nullptr;
    const Kind* claims = nullptr;   // PersistentVolumeClaim
    const Kind* volumes = nullptr;  // PersistentVolume
    const Kind* events = nullptr;   // v1; those of events.k8s.io are stored as these
    const Kind* storage_classes = nullptr;
    const Kind* disruption_budgets = nullptr;
    const Kind* leases = nullptr;
    const Kind* endpoint_slices = nullptr;
    const Kind* jobs = nullptr;
  };
  [[nodiscard]] const BuiltIn& built_in() const { return built_in_; }

 private:
  const Kind* add(Kind kind);
  void add_core();
  void add_groups();

  std::vector<std::unique_ptr<Kind>> kinds_;
  std::vector<std::unique_ptr<KindRules>> custom_rules_;
  std::vector<std::unique_ptr<const Printer>> custom_printers_;
  BuiltIn built_in_;
};

}  // namespace quorate::apiserver

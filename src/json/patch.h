#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/document.h"

namespace quorate::json {

// RFC 7396, JSON Merge Patch. Cannot fail.
[[nodiscard]] Value apply_merge_patch(Value target, const Value& patch);

// The smallest merge patch that leads from one document to the other: {} if they are equal objects.
// A merge patch cannot say null: null members of `to` come out as absent, as in Kubernetes.
[[nodiscard]] Value make_merge_patch(const Value& from, const Value& to);

// RFC 6902, JSON Patch: add, remove, replace, move, copy, test. All or nothing. A failed `test` and
// a path that does not exist are kConflict (the document is not what the author of the patch saw);
// a malformed patch is kInvalid. Both name the operation: `operation 2 (remove /a/b): ...`.
// Copies may not make the document larger than `limits.bytes`, roughly measured (kInvalid).
[[nodiscard]] Result<Value> apply_json_patch(Value target, const Value& patch,
                                             const Limits& limits = {});

// How Kubernetes merges what stands at a path. Lists without a rule are replaced as a whole, maps
// without a rule are merged.
struct MergeRule {
  enum class Strategy {
    kMerge,    // a list: by `key`, or as a set if it has none. A map: member by member
    kReplace,  // a list or map: as a whole
  };
  std::string
      path;  // field names joined by dots; list elements add nothing: "spec.containers.ports"
  Strategy strategy = Strategy::kMerge;
  std::string key;  // the field that identifies an element: "name", "containerPort"
};

// The rules of one kind of object: the patchStrategy and patchMergeKey tags of its Go types.
class MergeSchema {
 public:
  MergeSchema() = default;  // every list is replaced
  explicit MergeSchema(std::vector<MergeRule> rules);
  const MergeRule* find(std::string_view path) const;

 private:
  std::map<std::string, MergeRule, std::less<>> rules_;
};

// Kubernetes' strategic merge patch, with the directives `$patch: replace|delete`,
// `$retainKeys`, `$deleteFromPrimitiveList/<list>` and `$setElementOrder/<list>`. kInvalid with the
// path for malformed directives, elements without their merge key, and types that do not agree with
// the schema. No directive is left in the outcome.
[[nodiscard]] Result<Value> apply_strategic_merge_patch(Value target, const Value& patch,
                                                        const MergeSchema& schema);

// The merge rules of core/v1 Pod, for objects that hold one at `prefix`: "" for a Pod, "template"
// and "spec.template" for what wraps a PodSpec and its metadata.
[[nodiscard]] MergeSchema make_pod_merge_schema(std::string_view prefix = "");

}  // namespace quorate::json

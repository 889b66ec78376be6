// The part of patch.h that follows Kubernetes: strategic merge patches.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "json/patch.h"

namespace quorate::json {

namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteFrom = "$deleteFromPrimitiveList/";
constexpr std::string_view kElementOrder = "$setElementOrder/";

bool is_directive(std::string_view key) {
  return key == kDirective || key == kRetainKeys || key.starts_with(kDeleteFrom) ||
         key.starts_with(kElementOrder);
}

tl::unexpected<Error> invalid(std::string_view path, std::string message) {
  return fail(Error(Code::kInvalid, std::move(message)).in(path.empty() ? "patch" : path));
}

std::string child_path(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

// What a part of a patch becomes where there is nothing to merge it with: without nulls, without
// directives, and without the objects that only carry a `$patch`.
Value plain(const Value& patch) {
  const auto marked = [](const Value& value) {
    return value.is_object() && value.get_object().contains(kDirective);
  };
  if (const auto* array = patch.if_array()) {
    Array out;
    for (const auto& element : *array)
      if (!marked(element)) out.push_back(plain(element));
    return out;
  }
  const auto* object = patch.if_object();
  if (!object) return patch;
  Object out;
  for (const auto& [key, member] : *object)
    if (!member.is_null() && !is_directive(key) && !marked(member)) out[key] = plain(member);
  return out;
}

// What tells one element of a list from another: the merge key's value, or the scalar itself.
const Value* identity(const Value& element, const std::string& key) {
  if (key.empty()) return &element;
  const auto* object = element.if_object();
  return object ? object->if_contains(key) : nullptr;
}

constexpr auto kNowhere = std::numeric_limits<std::size_t>::max();

std::size_t index_in(const Array& list, const Value& element, const std::string& key) {
  const Value* wanted = identity(element, key);
  for (std::size_t i = 0; wanted && i < list.size(); ++i) {
    const Value* id = identity(list[i], key);
    if (id && equal(*id, *wanted)) return i;
  }
  return kNowhere;
}

// The elements in the order of `wanted`; those that it does not name keep their order in `server`
// and their place among the others as far as both can be had.
Array arrange(Array elements, const Array& wanted, const Array& server, const std::string& key) {
  struct Placed {
    Value value;
    std::size_t wanted;
    std::size_t server;
  };
  std::vector<Placed> named, others;
  for (auto& element : elements) {
    const auto in_wanted = index_in(wanted, element, key);
    const auto in_server = index_in(server, element, key);
    auto& list = in_wanted == kNowhere ? others : named;
    list.push_back({std::move(element), in_wanted, in_server});
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const Placed& a, const Placed& b) { return a.wanted < b.wanted; });
  std::stable_sort(others.begin(), others.end(),
                   [](const Placed& a, const Placed& b) { return a.server < b.server; });
  Array out;
  auto next = named.begin();
  for (auto& other : others) {
    while (next != named.end() && !(next->server != kNowhere && other.server < next->server))
      out.push_back(std::move((next++)->value));
    out.push_back(std::move(other.value));
  }
  for (; next != named.end(); ++next) out.push_back(std::move(next->value));
  return out;
}

Result<void> need_elements(const Array& list, const MergeRule& rule, std::string_view path) {
  for (const auto& element : list) {
    if (rule.key.empty() && element.is_structured())
      return invalid(path, fmt::format("expected a list of scalars, found {}", kind_name(element)));
    if (!rule.key.empty() && !element.is_object())
      return invalid(path, fmt::format("expected a list of objects, found {}", kind_name(element)));
    if (!identity(element, rule.key))
      return invalid(path, fmt::format("an element lacks its merge key \"{}\"", rule.key));
  }
  return {};
}

class Merger {
 public:
  explicit Merger(const MergeSchema& schema) : schema_(schema) {}

  Result<void> merge(Object& target, const Object& patch, const std::string& path) const {
    if (const Value* directive = patch.if_contains(kDirective))
      return obey(*directive, target, patch, path);
    TRY(retain_keys(target, patch, path));
    TRY(delete_from_lists(target, patch, path));
    for (const auto& [key, change] : patch)
      if (!is_directive(key)) TRY(merge_member(target, patch, key, change, path));
    return reorder_untouched(target, patch, path);
  }

 private:
  // `$patch` on a whole map.
  static Result<void> obey(const Value& directive, Object& target, const Object& patch,
                           std::string_view path) {
    if (directive == "delete") {
      target.clear();
    } else if (directive == "replace") {
      Object content = patch;
      content.erase(kDirective);
      target = plain(content).as_object();
    } else {
      return invalid(path, "$patch must be \"replace\" or \"delete\"");
    }
    return {};
  }

  static Result<void> retain_keys(Object& target, const Object& patch, std::string_view path) {
    const Value* retained = patch.if_contains(kRetainKeys);
    if (!retained) return {};
    const auto* keys = retained->if_array();
    if (!keys) return invalid(path, "$retainKeys must be a list of keys");
    const auto is_retained = [&](std::string_view key) {
      return std::find(keys->begin(), keys->end(), Value(key)) != keys->end();
    };
    for (const auto& [key, change] : patch)
      if (!change.is_null() && !is_directive(key) && !is_retained(key))
        return invalid(path,
                       fmt::format("\"{}\" is set but not in $retainKeys", std::string_view(key)));
    for (auto member = target.begin(); member != target.end();)
      member = is_retained(member->key()) ? std::next(member) : target.stable_erase(member);
    return {};
  }

  static Result<void> delete_from_lists(Object& target, const Object& patch,
                                        std::string_view path) {
    for (const auto& [key, doomed] : patch) {
      if (!std::string_view(key).starts_with(kDeleteFrom)) continue;
      const auto name = std::string_view(key).substr(kDeleteFrom.size());
      if (!doomed.is_array()) return invalid(path, fmt::format("{} must be a list", name));
      Value* list = target.if_contains(name);
      if (!list || !list->is_array()) continue;
      Array kept;
      for (auto& element : list->get_array())
        if (index_in(doomed.get_array(), element, "") == kNowhere) kept.push_back(element);
      *list = std::move(kept);
    }
    return {};
  }

  Result<void> merge_member(Object& target, const Object& patch, std::string_view key,
                            const Value& change, const std::string& path) const {
    if (change.is_null()) {
      target.stable_erase(key);
      return {};
    }
    const auto inner = child_path(path, key);
    Value* old = target.if_contains(key);
    const MergeRule* rule = schema_.find(inner);
    if (old && old->is_object() && change.is_object()) {
      if (!rule || rule->strategy == MergeRule::Strategy::kMerge)
        return merge(old->get_object(), change.get_object(), inner);
      *old = plain(change);
      return {};
    }
    if (change.is_object() && change.get_object().contains(kDirective)) {
      target.stable_erase(key);  // there is no map to replace or to delete
      return {};
    }
    if (!change.is_array()) {
      target[key] = plain(change);
      return {};
    }
    const Array none;
    const bool both = old && old->is_array();
    TRY(auto merged,
        merge_list(both ? old->get_array() : none, change.get_array(),
                   patch.if_contains(fmt::format("{}{}", kElementOrder, key)), rule, inner));
    target[key] = std::move(merged);
    return {};
  }

  Result<Array> merge_list(const Array& old, const Array& change, const Value* order,
                           const MergeRule* rule, const std::string& path) const {
    if (!rule || rule->strategy == MergeRule::Strategy::kReplace) return plain(change).as_array();
    TRY(need_elements(old, *rule, path));
    TRY(need_elements(rule->key.empty() ? change : without_replace_marks(change), *rule, path));
    if (order) TRY(need_order(*order, change, *rule, path));
    const Array& wanted = order ? order->get_array() : change;
    if (rule->key.empty()) return arrange(merge_scalars(old, change), wanted, old, rule->key);

    Array merged = old;
    TRY(auto elements, obey_elements(merged, change, *rule, path));
    for (const auto& element : elements) {
      const auto at = index_in(merged, element, rule->key);
      if (at == kNowhere)
        merged.push_back(plain(element));
      else
        TRY(merge(merged[at].get_object(), element.get_object(), path));
    }
    return arrange(std::move(merged), wanted, old, rule->key);
  }

  static Array merge_scalars(const Array& old, const Array& change) {
    Array merged;
    for (const Array* list : {&old, &change})
      for (const auto& element : *list)
        if (index_in(merged, element, "") == kNowhere) merged.push_back(element);
    return merged;
  }

  // `{"$patch": "replace"}` as an element speaks of the list and has no merge key.
  static Array without_replace_marks(const Array& change) {
    Array out;
    for (const auto& element : change)
      if (text_or(element, "/$patch", "") != "replace") out.push_back(element);
    return out;
  }

  // Carries out `$patch` of the elements; gives those that are to be merged.
  static Result<Array> obey_elements(Array& merged, const Array& change, const MergeRule& rule,
                                     std::string_view path) {
    Array elements;
    bool replace = false;
    for (const auto& element : change) {
      const Value* directive = element.get_object().if_contains(kDirective);
      if (!directive) {
        elements.push_back(element);
      } else if (*directive == "replace") {
        replace = true;
      } else if (*directive == "delete") {
        for (auto at = index_in(merged, element, rule.key); at != kNowhere;
             at = index_in(merged, element, rule.key))
          merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        return invalid(path, "$patch must be \"replace\" or \"delete\"");
      }
    }
    if (replace) merged.clear();
    return elements;
  }

  // What is set must stand in the order list, in the same order.
  static Result<void> need_order(const Value& order, const Array& change, const MergeRule& rule,
                                 std::string_view path) {
    if (!order.is_array()) return invalid(path, "$setElementOrder must be a list");
    TRY(need_elements(order.get_array(), rule, path));
    std::size_t last = 0;
    for (const auto& element : change) {
      if (element.is_object() && element.get_object().contains(kDirective)) continue;
      const auto at = index_in(order.get_array(), element, rule.key);
      if (at == kNowhere || at < last)
        return invalid(path, "the elements do not follow $setElementOrder");
      last = at;
    }
    return {};
  }

  // Lists that are not patched but ordered.
  Result<void> reorder_untouched(Object& target, const Object& patch,
                                 const std::string& path) const {
    for (const auto& [key, order] : patch) {
      if (!std::string_view(key).starts_with(kElementOrder)) continue;
      const auto name = std::string_view(key).substr(kElementOrder.size());
      Value* list = target.if_contains(name);
      const auto inner = child_path(path, name);
      const MergeRule* rule = schema_.find(inner);
      if (patch.contains(name) || !list || !list->is_array() || !rule) continue;
      TRY(need_elements(list->get_array(), *rule, inner));
      TRY(need_order(order, {}, *rule, inner));
      *list = arrange(list->get_array(), order.get_array(), list->get_array(), rule->key);
    }
    return {};
  }

  const MergeSchema& schema_;
};

}  // namespace

MergeSchema::MergeSchema(std::vector<MergeRule> rules) {
  for (auto& rule : rules) {
    auto path = rule.path;
    rules_.insert_or_assign(std::move(path), std::move(rule));
  }
}

const MergeRule* MergeSchema::find(std::string_view path) const {
  const auto found = rules_.find(path);
  return found == rules_.end() ? nullptr : &found->second;
}

Result<Value> apply_strategic_merge_patch(Value target, const Value& patch,
                                          const MergeSchema& schema) {
  if (!target.is_object() || !patch.is_object())
    return fail(Code::kInvalid, "strategic merge patch: expected two objects");
  TRY(in("strategic merge patch",
         Merger(schema).merge(target.get_object(), patch.get_object(), "")));
  return target;
}

MergeSchema make_pod_merge_schema(std::string_view prefix) {
  struct Row {
    std::string_view path;
    std::string_view key;
  };
  constexpr Row kPod[] = {
      {"metadata.ownerReferences", "uid"},
      {"metadata.finalizers", ""},
      {"spec.volumes", "name"},
      {"spec.imagePullSecrets", "name"},
      {"spec.hostAliases", "ip"},
      {"spec.topologySpreadConstraints", "topologyKey"},
      {"spec.schedulingGates", "name"},
      {"spec.resourceClaims", "name"},
      {"status.conditions", "type"},
      {"status.podIPs", "ip"},
      {"status.hostIPs", "ip"},
      {"status.resourceClaimStatuses", "name"},
  };
  constexpr Row kContainer[] = {{"", "name"},
                                {".ports", "containerPort"},
                                {".env", "name"},
                                {".volumeMounts", "mountPath"},
                                {".volumeDevices", "devicePath"}};
  std::vector<MergeRule> rules;
  const auto add = [&](std::string_view path, std::string_view key) {
    rules.push_back({child_path(prefix, path), MergeRule::Strategy::kMerge, std::string(key)});
  };
  for (const auto& row : kPod) add(row.path, row.key);
  for (std::string_view list : {"containers", "initContainers", "ephemeralContainers"})
    for (const auto& row : kContainer) add(fmt::format("spec.{}{}", list, row.path), row.key);
  return MergeSchema(std::move(rules));
}

}  // namespace quorate::json

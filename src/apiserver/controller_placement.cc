#include "apiserver/controller_placement.h"

#include <algorithm>
#include <limits>

#include "apiserver/controller_objects.h"
#include "base/strings.h"
#include "json/quantity.h"

namespace quorate::apiserver {

namespace {

constexpr std::int64_t kMostPods = 110;

const json::Array& list_at(const json::Value& object, std::string_view pointer) {
  static const json::Array kNone;
  const auto found = json::array_at(object, pointer);
  return found ? **found : kNone;
}

// One expression of a NodeSelectorTerm, on a label or on metadata.name.
bool holds(const json::Value& expression, const json::Value& node, bool on_field) {
  const std::string key(json::text_or(expression, "/key", ""));
  const auto labels = labels_at(node, "/metadata/labels");
  const auto label = labels.find(key);
  std::optional<std::string> value;
  if (on_field) {
    if (key == "metadata.name") value = json::text_or(node, "/metadata/name", "");
  } else if (label != labels.end()) {
    value = label->second;
  }
  const auto op = json::text_or(expression, "/operator", "");
  const auto& values = list_at(expression, "/values");
  const bool listed = value && std::any_of(values.begin(), values.end(), [&](const auto& one) {
                        return one.is_string() && one.get_string() == *value;
                      });
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  if (op == "Exists") return value.has_value();
  if (op == "DoesNotExist") return !value;
  if (!value || values.empty() || !values[0].is_string()) return false;
  const auto mine = parse_integer(*value), theirs = parse_integer(values[0].get_string());
  if (!mine || !theirs) return false;
  return op == "Gt" ? *mine > *theirs : op == "Lt" && *mine < *theirs;
}

bool term_holds(const json::Value& term, const json::Value& node) {
  const auto& labels = list_at(term, "/matchExpressions");
  const auto& fields = list_at(term, "/matchFields");
  if (labels.empty() && fields.empty()) return false;
  return std::all_of(labels.begin(), labels.end(),
                     [&](const auto& one) { return holds(one, node, false); }) &&
         std::all_of(fields.begin(), fields.end(),
                     [&](const auto& one) { return holds(one, node, true); });
}

// A NodeSelector: one of its terms holds.
bool selector_holds(const json::Value& selector, const json::Value& node) {
  const auto& terms = list_at(selector, "/nodeSelectorTerms");
  return std::any_of(terms.begin(), terms.end(),
                     [&](const auto& term) { return term_holds(term, node); });
}

json::Quantity quantity_at(const json::Value& object, std::string_view pointer) {
  const auto* found = json::find(object, pointer);
  const auto quantity = found ? json::Quantity::from_json(*found) : json::Quantity();
  return quantity.value_or(json::Quantity());
}

Demand demand_of_container(const json::Value& container) {
  return {quantity_at(container, "/resources/requests/cpu").millis(),
          static_cast<std::int64_t>(
              quantity_at(container, "/resources/requests/memory").bytes().value()),
          0};
}

}  // namespace

std::vector<std::string> claims_of(const json::Value& pod) {
  std::vector<std::string> out;
  for (const auto& volume : list_at(pod, "/spec/volumes"))
    if (const auto name = json::text_or(volume, "/persistentVolumeClaim/claimName", "");
        !name.empty())
      out.emplace_back(name);
  return out;
}

json::Value make_node_affinity(std::string_view node) {
  return {{"required",
           {{"nodeSelectorTerms",
             json::Array{{{"matchExpressions",
                           json::Array{{{"key", "kubernetes.io/hostname"},
                                        {"operator", "In"},
                                        {"values", json::Array{json::Value(node)}}}}}}}}}}};
}

bool volume_fits(const json::Value& volume, const json::Value& node) {
  const auto* required = json::find(volume, "/spec/nodeAffinity/required");
  return !required || selector_holds(*required, node);
}

bool node_selected(const json::Value& pod, const json::Value& node) {
  const auto labels = labels_at(node, "/metadata/labels");
  for (const auto& [key, value] : labels_at(pod, "/spec/nodeSelector")) {
    const auto label = labels.find(key);
    if (label == labels.end() || label->second != value) return false;
  }
  const auto* required =
      json::find(pod, "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution");
  return !required || selector_holds(*required, node);
}

bool tolerates(const json::Value& pod, const json::Value& taint) {
  const auto key = json::text_or(taint, "/key", "");
  const auto& all = list_at(pod, "/spec/tolerations");
  return std::any_of(all.begin(), all.end(), [&](const json::Value& one) {
    const auto effect = json::text_or(one, "/effect", "");
    if (!effect.empty() && effect != json::text_or(taint, "/effect", "")) return false;
    const auto own = json::text_or(one, "/key", "");
    if (!own.empty() && own != key) return false;
    const auto op = json::text_or(one, "/operator", "Equal");
    if (op == "Exists") return true;
    return !own.empty() && json::text_or(one, "/value", "") == json::text_or(taint, "/value", "");
  });
}

bool tolerates_all(const json::Value& pod, const json::Value& node, std::string_view effect) {
  const auto& taints = list_at(node, "/spec/taints");
  return std::all_of(taints.begin(), taints.end(), [&](const json::Value& taint) {
    return json::text_or(taint, "/effect", "") != effect || tolerates(pod, taint);
  });
}

Demand& Demand::operator+=(const Demand& other) {
  millis += other.millis;
  bytes += other.bytes;
  pods += other.pods;
  return *this;
}

bool Demand::fits_into(const Demand& capacity) const {
  return millis <= capacity.millis && bytes <= capacity.bytes && pods <= capacity.pods;
}

// Containers run together, init containers one after the other before them.
Demand demand_of(const json::Value& pod) {
  Demand sum{0, 0, 1};
  for (const auto& container : list_at(pod, "/spec/containers"))
    sum += demand_of_container(container);
  for (const auto& container : list_at(pod, "/spec/initContainers")) {
    const auto one = demand_of_container(container);
    sum.millis = std::max(sum.millis, one.millis);
    sum.bytes = std::max(sum.bytes, one.bytes);
  }
  return sum;
}

// A node that says nothing of a resource has no end of it.
Demand capacity_of(const json::Value& node) {
  constexpr auto kEndless = std::numeric_limits<std::int64_t>::max();
  const auto amount = [&](std::string_view pointer, auto read, std::int64_t otherwise) {
    return json::find(node, pointer) ? read(quantity_at(node, pointer)) : otherwise;
  };
  return {
      amount(
          "/status/allocatable/cpu", [](const auto& q) { return q.millis(); }, kEndless),
      amount(
          "/status/allocatable/memory",
          [](const auto& q) { return static_cast<std::int64_t>(q.bytes().value()); }, kEndless),
      amount(
          "/status/allocatable/pods",
          [](const auto& q) { return static_cast<std::int64_t>(q.bytes().value()); }, kMostPods)};
}

}  // namespace quorate::apiserver

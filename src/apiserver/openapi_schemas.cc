// Types in the words of OpenAPI v3, with the extensions of Kubernetes.

#include <fmt/format.h>

#include <map>
#include <utility>

#include "apiserver/builtin_types.h"
#include "apiserver/openapi_parts.h"
#include "base/check.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

using Special = Schema::Special;
using Topology = Schema::Topology;
using Type = Schema::Type;

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1";

json::Object reference(std::string_view name) {
  return {{"$ref", fmt::format("#/components/schemas/{}", name)}};
}

// The package of a built-in type; those of the core group are many, so they are not named here.
std::string_view package_of(std::string_view type) {
  static const std::map<std::string_view, std::string_view> kPackages = [] {
    std::map<std::string_view, std::string_view> out;
    const auto put = [&](std::string_view package, std::initializer_list<std::string_view> types) {
      for (const auto one : types) out.emplace(one, package);
    };
    put(kMeta, {"ObjectMeta", "ListMeta", "OwnerReference", "ManagedFieldsEntry", "LabelSelector",
                "LabelSelectorRequirement", "Condition", "DeleteOptions", "Preconditions", "Patch",
                "Time", "MicroTime", "FieldsV1"});
    put("io.k8s.apimachinery.pkg.api.resource", {"Quantity"});
    put("io.k8s.apimachinery.pkg.util.intstr", {"IntOrString"});
    put("io.k8s.api.autoscaling.v1", {"Scale", "ScaleSpec", "ScaleStatus"});
    put("io.k8s.api.storage.v1", {"StorageClass"});
    put("io.k8s.api.coordination.v1", {"Lease", "LeaseSpec"});
    put("io.k8s.api.policy.v1", {"PodDisruptionBudget", "PodDisruptionBudgetSpec",
                                 "PodDisruptionBudgetStatus", "Eviction"});
    put("io.k8s.api.discovery.v1", {"EndpointSlice", "Endpoint", "EndpointConditions",
                                    "EndpointHints", "ForZone", "ForNode", "EndpointPort"});
    put("io.k8s.api.batch.v1",
        {"Job", "JobSpec", "JobStatus", "JobCondition", "PodFailurePolicy", "PodFailurePolicyRule",
         "PodFailurePolicyOnExitCodesRequirement", "PodFailurePolicyOnPodConditionsPattern",
         "SuccessPolicy", "SuccessPolicyRule", "UncountedTerminatedPods"});
    return out;
  }();
  const auto found = kPackages.find(type);
  return found == kPackages.end() ? "io.k8s.api.core.v1" : found->second;
}

json::Array named(const Kind& kind, std::string_view suffix = "") {
  auto names = group_version_kind(kind);
  names["kind"] = fmt::format("{}{}", kind.kind, suffix);
  return {std::move(names)};
}

// Types that no table describes, because nothing is decoded by them.
std::optional<json::Object> plain_type(std::string_view name) {
  const auto text = [](std::string_view format) {
    return json::Object{{"type", "string"}, {"format", format}};
  };
  if (name == "Time" || name == "MicroTime") return text("date-time");
  if (name == "Patch" || name == "FieldsV1") return json::Object{{"type", "object"}};
  const auto one_of = [](std::string_view a, std::string_view b) {
    return json::Array{json::Object{{"type", a}}, json::Object{{"type", b}}};
  };
  if (name == "Quantity") return json::Object{{"oneOf", one_of("string", "number")}};
  if (name == "IntOrString")
    return json::Object{{"format", "int-or-string"}, {"oneOf", one_of("integer", "string")}};
  if (name != "ListMeta") return std::nullopt;
  const json::Object string{{"type", "string"}};
  return json::Object{
      {"type", "object"},
      {"properties",
       json::Object{{"continue", string},
                    {"remainingItemCount", json::Object{{"type", "integer"}, {"format", "int64"}}},
                    {"resourceVersion", string},
                    {"selfLink", string}}}};
}

std::string_view special_name(const Schema& schema) {
  if (schema.int_or_string) return "IntOrString";
  switch (schema.special) {
    case Special::kQuantity:
      return "Quantity";
    case Special::kTime:
      return "Time";
    case Special::kMicroTime:
      return "MicroTime";
    case Special::kRaw:
      return "FieldsV1";
    case Special::kNone:
    case Special::kBytes:
    case Special::kDuration:
      break;
  }
  return "";
}

// That of a type's own schema, which a field of it need not repeat.
Topology usual_topology(const Schema& schema) {
  const auto name = cut(schema.name, "v1.");
  const auto type = schema.struct_type && name ? find_builtin_type(name->after) : nullptr;
  return type ? type->topology : Topology::kGranular;
}

// How apply and patches treat what stands here.
void put_extensions(json::Object& out, const Schema& schema) {
  if (schema.type == Type::kArray) {
    out["x-kubernetes-list-type"] = schema.topology == Topology::kMap   ? "map"
                                    : schema.topology == Topology::kSet ? "set"
                                                                        : "atomic";
    if (!schema.map_keys.empty()) {
      json::Array keys;
      for (const auto& key : schema.map_keys) keys.emplace_back(key);
      out["x-kubernetes-list-map-keys"] = std::move(keys);
    }
  } else if (schema.type == Type::kObject && schema.topology != usual_topology(schema)) {
    out["x-kubernetes-map-type"] = schema.topology == Topology::kAtomic ? "atomic" : "granular";
  }
  std::vector<std::string_view> strategies;
  if (schema.patch_merge) strategies.emplace_back("merge");
  if (schema.patch_replace) strategies.emplace_back("replace");
  if (schema.patch_retain_keys) strategies.emplace_back("retainKeys");
  if (!strategies.empty()) out["x-kubernetes-patch-strategy"] = join(strategies, ",");
  if (!schema.patch_merge_key.empty()) out["x-kubernetes-patch-merge-key"] = schema.patch_merge_key;
}

constexpr std::string_view kKindText =
    "Kind is a string value representing the REST resource this object represents. Servers may "
    "infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. "
    "More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/"
    "api-conventions.md#types-kinds";
constexpr std::string_view kApiVersionText =
    "APIVersion defines the versioned schema of this representation of an object. Servers should "
    "convert recognized schemas to the latest internal value, and may reject unrecognized values. "
    "More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
constexpr std::string_view kMetadataText =
    "Standard object's metadata. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

json::Object described(json::Value schema, std::string_view text) {
  if (schema.is_object() && schema.get_object().contains("$ref"))
    return {{"allOf", json::Array{std::move(schema)}}, {"description", text}};
  schema.as_object()["description"] = text;
  return std::move(schema.as_object());
}

json::Object text_field(std::string_view text) {
  return {{"type", "string"}, {"description", text}};
}

}  // namespace

// Two types have the names of others in their own group.
std::string Components::name_of(std::string_view type) const {
  const bool of_events = group_ == "events.k8s.io" && (type == "Event" || type == "EventSeries");
  return fmt::format("{}.{}", of_events ? "io.k8s.api.events.v1" : package_of(type), type);
}

// quorate.io/v1alpha1 EtcdCluster: io.quorate.v1alpha1.EtcdCluster.
std::string Components::name_of(const Kind& kind) const {
  if (!kind.custom) return name_of(kind.kind);
  std::string name;
  for (const auto part : split(kind.group, '.')) name = fmt::format("{}.{}", part, name);
  return fmt::format("{}{}.{}", name, kind.version, kind.kind);
}

json::Value Components::refer(const std::string& name,
                              json::Object (Components::*make)(const Kind&), const Kind& kind) {
  if (!schemas_.contains(name)) {
    auto made = (this->*make)(kind);
    schemas_[name] = std::move(made);
  }
  return reference(name);
}

json::Value Components::of_kind(const Kind& kind) {
  const auto name = name_of(kind);
  if (kind.custom) return refer(name, &Components::make_custom, kind);
  if (!schemas_.contains(name)) {
    auto made = make_struct(kind.rules->schema());
    made["x-kubernetes-group-version-kind"] = named(kind);
    schemas_[name] = std::move(made);
  }
  return reference(name);
}

json::Value Components::of_list(const Kind& kind) {
  return refer(name_of(kind) + "List", &Components::make_list, kind);
}

json::Value Components::of_type(std::string_view name, const json::Object* names) {
  const auto component = name_of(name);
  if (schemas_.contains(component)) return reference(component);
  if (auto plain = plain_type(name)) {
    schemas_[component] = std::move(*plain);
    return reference(component);
  }
  const auto schema = find_builtin_type(name);
  CHECK(schema, "no type {}", name);
  auto out = of_struct(*schema);
  if (names)
    schemas_[component].as_object()["x-kubernetes-group-version-kind"] = json::Array{*names};
  return out;
}

json::Object Components::make_list(const Kind& kind) {
  return {{"type", "object"},
          {"description", fmt::format("{0}List is a list of {0}", kind.kind)},
          {"required", json::Array{"items"}},
          {"properties",
           json::Object{{"apiVersion", text_field(kApiVersionText)},
                        {"kind", text_field(kKindText)},
                        {"metadata", of_type("ListMeta")},
                        {"items", json::Object{{"type", "array"}, {"items", of_kind(kind)}}}}},
          {"x-kubernetes-group-version-kind", named(kind, "List")}};
}

// As it was declared; what every object has is the same everywhere.
json::Object Components::make_custom(const Kind& kind) {
  auto schema = kind.declared ? kind.declared->as_object() : json::Object{{"type", "object"}};
  auto& properties = schema["properties"];
  if (!properties.is_object()) properties = json::Object();
  properties.as_object()["apiVersion"] = text_field(kApiVersionText);
  properties.as_object()["kind"] = text_field(kKindText);
  properties.as_object()["metadata"] = described(of_type("ObjectMeta"), kMetadataText);
  schema["x-kubernetes-group-version-kind"] = named(kind);
  return schema;
}

json::Value Components::of_struct(const Schema& schema) {
  const auto type = cut(schema.name, "v1.");
  CHECK(type, "the type {} has a name of its own", schema.name);
  const auto name = name_of(type->after);
  if (!schemas_.contains(name)) {
    schemas_[name] = nullptr;  // it is on the way: types may hold themselves
    auto made = make_struct(schema);
    schemas_[name] = std::move(made);
  }
  return reference(name);
}

json::Object Components::make_struct(const Schema& schema) {
  json::Object properties;
  json::Array required;
  for (const auto& field : schema.order) {
    const auto& property = schema.properties.at(field);
    properties[field] = describe(*property.schema);
    if (property.required) required.emplace_back(field);
  }
  json::Object out{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) out["required"] = std::move(required);
  if (schema.topology == Topology::kAtomic) out["x-kubernetes-map-type"] = "atomic";
  return out;
}

// A reference has nothing beside it; what is to be said of it stands around it.
json::Value Components::describe(const Schema& schema) {
  auto bare = describe_bare(schema);
  json::Object said;
  put_extensions(said, schema);
  if (schema.default_value) said["default"] = *schema.default_value;
  if (said.empty()) return bare;
  if (bare.as_object().contains("$ref")) {
    said["allOf"] = json::Array{std::move(bare)};
    return said;
  }
  for (const auto& [key, value] : said) bare.as_object()[key] = value;
  return bare;
}

json::Value Components::describe_bare(const Schema& schema) {
  if (const auto name = special_name(schema); !name.empty()) return of_type(name);
  if (schema.struct_type) return of_struct(schema);
  json::Object out{{"type", type_text(schema.type)}};
  if (schema.special == Special::kBytes) out["format"] = "byte";
  if (!schema.format.empty()) out["format"] = schema.format;
  if (schema.items) out["items"] = describe_bare(*schema.items);
  if (schema.additional_properties)
    out["additionalProperties"] = describe_bare(*schema.additional_properties);
  return out;
}

}  // namespace quorate::apiserver

// Namespaces, Nodes, Leases and EndpointSlices.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apiserver/builtin_support.h"

namespace quorate::apiserver {

namespace {

// --- namespaces

NameProblems check_namespace_name(std::string_view name) {
  if (name.find('.') != std::string_view::npos) return {"must not contain dots"};
  return check_dns_label(name);
}

void set_namespace_defaults(json::Object& object) {
  auto& metadata = object_in(object, "metadata");
  const auto* name = metadata.if_contains("name");
  if (name && name->is_string() && !name->get_string().empty()) {
    const json::Value copy = *name;
    object_in(metadata, "labels")["kubernetes.io/metadata.name"] = copy;
  }
  set_if_absent(object_in(object, "status"), "phase", "Active");
}

void prepare_namespace(json::Object& object, const RuleContext&) {
  const json::Value name = object_in(object, "metadata")["name"];
  object_in(object_in(object, "metadata"), "labels")["kubernetes.io/metadata.name"] = name;
  object_in(object, "status")["phase"] = "Active";
  auto& list = object_in(object, "spec")["finalizers"];
  if (!list.is_array()) list = json::Array{};
  auto& finalizers = list.get_array();
  if (std::find(finalizers.begin(), finalizers.end(), json::Value("kubernetes")) ==
      finalizers.end())
    finalizers.push_back("kubernetes");
}

// The finalizers of the spec go through the subresource finalize alone.
void prepare_namespace_update(json::Object& object, const json::Value& old) {
  auto& spec = object_in(object, "spec");
  if (const auto* finalizers = json::find(old, "/spec/finalizers"))
    spec["finalizers"] = *finalizers;
  else
    spec.stable_erase("finalizers");
}

// The phase follows the deletion.
void validate_namespace_status(const json::Value& object, const json::Value&, FieldErrors& errors) {
  const auto phase = json::text_or(object, "/status/phase", "");
  const bool deleting = json::find(object, "/metadata/deletionTimestamp") != nullptr;
  if (phase == (deleting ? "Terminating" : "Active")) return;
  errors.push_back(
      invalid_value("status.Phase", json::Value(phase),
                    fmt::format("may only be '{}' if `deletionTimestamp` is {}empty",
                                deleting ? "Terminating" : "Active", deleting ? "not " : "")));
}

// --- nodes

void set_node_defaults(json::Object& node) {
  auto& status = object_in(node, "status");
  const auto* capacity = status.if_contains("capacity");
  if (capacity && !status.contains("allocatable")) {
    const json::Value copy = *capacity;
    status["allocatable"] = copy;
  }
  auto& spec = object_in(node, "spec");
  keep_first_alike(spec, "podCIDR", "podCIDRs");
}

// A new node takes no Pods until it has been seen to be ready.
void admit_node(json::Object& node, const RuleContext&) {
  auto& list = object_in(node, "spec")["taints"];
  if (!list.is_array()) list = json::Array{};
  auto& taints = list.get_array();
  const bool there = std::any_of(taints.begin(), taints.end(), [](const json::Value& taint) {
    return text_in(taint, "key") == "node.kubernetes.io/not-ready" &&
           text_in(taint, "effect") == "NoSchedule";
  });
  if (!there) taints.push_back({{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}});
}

void validate_node(const json::Value& node, FieldErrors& errors) {
  const auto* spec = member(node, "spec");
  if (!spec) return;
  std::set<std::pair<std::string, std::string>> seen;
  // The real server says metadata.taints.
  for_each_at(*spec, "taints", "metadata", [&](const json::Value& taint, const std::string& path) {
    const std::string key(text_in(taint, "key")), effect(text_in(taint, "effect"));
    check_name(errors, path + ".key", key, check_qualified_name);
    if (effect.empty())
      errors.push_back(required_value(path + ".effect"));
    else
      check_choice(errors, path + ".effect", effect,
                   {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    if (!seen.emplace(key, effect).second) errors.push_back(duplicate_value(path, taint));
  });
}

void validate_node_update(const json::Value& node, const json::Value& old, FieldErrors& errors) {
  if (json::find(old, "/spec/podCIDRs") && !same_at(node, old, "/spec/podCIDRs"))
    errors.push_back(forbidden("spec.podCIDRs",
                               "node updates may not change podCIDR except from \"\" to valid"));
  if (!json::text_or(old, "/spec/providerID", "").empty() &&
      !same_at(node, old, "/spec/providerID"))
    errors.push_back(forbidden("spec.providerID",
                               "node updates may not change providerID except from \"\" to valid"));
}

// The real server takes both for the same.
void validate_node_status(const json::Value& node, const json::Value& old, FieldErrors& errors) {
  validate_node_update(node, old, errors);
  validate_node(node, errors);
}

// --- leases

void validate_lease(const json::Value& lease, FieldErrors& errors) {
  if (const auto seconds = json::integer_at(lease, "/spec/leaseDurationSeconds");
      seconds && *seconds <= 0)
    errors.push_back(
        invalid_value("spec.leaseDurationSeconds", *seconds, "must be greater than 0"));
  if (const auto* spec = member(lease, "spec"))
    check_not_negative(errors, *spec, "leaseTransitions", "spec");
}

// --- endpoint slices

// What is stored has no empty lists.
void drop_empty_lists(json::Object& slice) {
  for (const char* list : {"endpoints", "ports"})
    if (auto& value = slice[list]; value.is_array() && value.get_array().empty()) value = nullptr;
}
void prepare_slice(json::Object& slice, const RuleContext&) { drop_empty_lists(slice); }
void prepare_slice_update(json::Object& slice, const json::Value&) { drop_empty_lists(slice); }

void set_slice_defaults(json::Object& slice) {
  for_each_object(slice, "ports", [](json::Object& port) {
    if (!port.contains("name")) port["name"] = "";
    set_if_absent(port, "protocol", "TCP");
  });
}

void check_slice_endpoint(const json::Value& endpoint, const std::string& path,
                          std::string_view type, FieldErrors& errors) {
  const auto addresses = json::array_at(endpoint, "/addresses");
  if (!addresses || (*addresses)->empty()) {
    errors.push_back(required_value(path + ".addresses", "must contain at least 1 address"));
    return;
  }
  for (std::size_t i = 0; i < (*addresses)->size(); ++i) {
    const auto& address = (**addresses)[i];
    const auto here = fmt::format("{}.addresses[{}]", path, i);
    if (!address.is_string()) continue;
    const std::string_view text = address.get_string();
    const bool six = text.find(':') != std::string_view::npos;
    if (type == "FQDN")
      check_name(errors, here, text, check_dns_subdomain);
    else if (!is_ip_address(text))
      errors.push_back(invalid_value(
          here, address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
    else if ((type == "IPv4" && six) || (type == "IPv6" && !six))
      errors.push_back(
          invalid_value(path + ".addresses", address, fmt::format("must be an {} address", type)));
  }
}

void validate_slice(const json::Value& slice, FieldErrors& errors) {
  const auto type = text_in(slice, "addressType");
  if (type.empty())
    errors.push_back(required_value("addressType"));
  else
    check_choice(errors, "addressType", type, {"FQDN", "IPv4", "IPv6"});
  std::set<std::string, std::less<>> names;
  for_each_at(slice, "ports", "", [&](const json::Value& port, const std::string& path) {
    const auto name = text_in(port, "name");
    if (!name.empty()) check_name(errors, path + ".name", name, check_dns_label);
    if (!names.emplace(name).second)
      errors.push_back(duplicate_value(path + ".name", json::Value(name)));
  });
  for_each_at(slice, "endpoints", "", [&](const json::Value& endpoint, const std::string& path) {
    check_slice_endpoint(endpoint, path, type, errors);
  });
}

void validate_slice_update(const json::Value& slice, const json::Value& old, FieldErrors& errors) {
  if (!same_at(slice, old, "/addressType"))
    errors.push_back(
        invalid_value("addressType", *member(slice, "addressType"), "field is immutable"));
}

}  // namespace

const BuiltinKind kNamespaceRules = {
    .api_version = "v1",
    .kind = "Namespace",
    .namespaced = false,
    .name_rule = check_namespace_name,
    .set_defaults = set_namespace_defaults,
    .prepare_for_create = prepare_namespace,
    .prepare_for_update = prepare_namespace_update,
    .validate_status = validate_namespace_status,
};

const BuiltinKind kNodeRules = {
    .api_version = "v1",
    .kind = "Node",
    .namespaced = false,
    .keeps_status_on_create = true,
    .set_defaults = set_node_defaults,
    .admit = admit_node,
    .validate = validate_node,
    .validate_update = validate_node_update,
    .validate_status = validate_node_status,
};

const BuiltinKind kLeaseRules = {
    .api_version = "coordination.k8s.io/v1",
    .kind = "Lease",
    .strict_finalizers = false,
    .has_status = false,
    .create_on_update = true,
    .unconditional_update = false,
    .validate = validate_lease,
};

const BuiltinKind kEndpointSliceRules = {
    .api_version = "discovery.k8s.io/v1",
    .kind = "EndpointSlice",
    .has_status = false,
    .counts_generation = true,
    .set_defaults = set_slice_defaults,
    .prepare_for_create = prepare_slice,
    .prepare_for_update = prepare_slice_update,
    .validate = validate_slice,
    .validate_update = validate_slice_update,
};

}  // namespace quorate::apiserver

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "apiserver/builtin_support.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

constexpr std::int64_t kMostPort = 65535;

std::string_view type_of(const json::Value& service) {
  return json::text_or(service, "/spec/type", "");
}

bool is_headless(const json::Value& service) {
  return json::text_or(service, "/spec/clusterIP", "") == "None";
}

void set_port_defaults(json::Object& port) {
  set_if_absent(port, "protocol", "TCP");
  const auto& target = port["targetPort"];
  if (target.is_null() || json::equal(target, 0) || json::equal(target, ""))
    port["targetPort"] = port["port"];
}

void set_ingress_defaults(json::Object& ingress) {
  if (ingress.contains("ip")) set_if_absent(ingress, "ipMode", "VIP");
}

void set_defaults(json::Object& service) {
  auto& spec = object_in(service, "spec");
  set_if_absent(spec, "sessionAffinity", "None");
  if (spec["sessionAffinity"] == "None") spec.erase("sessionAffinityConfig");
  if (spec["sessionAffinity"] == "ClientIP")
    set_if_absent(object_in(object_in(spec, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds",
                  10800);
  set_if_absent(spec, "type", "ClusterIP");
  for_each_object(spec, "ports", set_port_defaults);
  const bool outside = spec["type"] == "NodePort" || spec["type"] == "LoadBalancer";
  if (outside) set_if_absent(spec, "externalTrafficPolicy", "Cluster");
  if (outside || spec["type"] == "ClusterIP")
    set_if_absent(spec, "internalTrafficPolicy", "Cluster");
  if (spec["type"] != "LoadBalancer") return;
  set_if_absent(spec, "allocateLoadBalancerNodePorts", true);
  for_each_object(object_in(object_in(service, "status"), "loadBalancer"), "ingress",
                  set_ingress_defaults);
}

// One address, one family: that is what the registry gives (addresses.h). Only a headless service
// that selects nothing may be of both, because nobody gives it an address.
void set_families(json::Object& spec) {
  if (spec["type"] == "ExternalName") return;
  const auto* selector = spec.if_contains("selector");
  const bool selects = selector && selector->is_object() && !selector->get_object().empty();
  const auto* headless = spec.if_contains("clusterIP");
  if (headless && *headless == "None" && !selects && !spec.contains("ipFamilyPolicy")) {
    set_if_absent(spec, "ipFamilies", json::Array{"IPv4", "IPv6"});
    spec["ipFamilyPolicy"] = "RequireDualStack";
  }
  set_if_absent(spec, "ipFamilies", json::Array{"IPv4"});
  set_if_absent(spec, "ipFamilyPolicy", "SingleStack");
  const auto* address = spec.if_contains("clusterIP");
  if (address && address->is_string() && !address->get_string().empty())
    set_if_absent(spec, "clusterIPs", json::Array{*address});
}

void prepare_for_create(json::Object& service, const RuleContext&) {
  set_families(object_in(service, "spec"));
}

// What was given once stays, unless the type no longer has it. clusterIP and clusterIPs follow each
// other.
void prepare_for_update(json::Object& service, const json::Value& old) {
  auto& spec = object_in(service, "spec");
  const auto before = json::object_at(old, "/spec");
  if (before && spec["type"] != "ExternalName" && type_of(old) != "ExternalName") {
    const auto* address = spec.if_contains("clusterIP");
    const auto* was = (*before)->if_contains("clusterIP");
    const bool given = address && address->is_string() && !address->get_string().empty();
    if (!given && was) {
      spec["clusterIP"] = *was;
      if (const auto* all = (*before)->if_contains("clusterIPs")) spec["clusterIPs"] = *all;
    } else if (given && was && *address != *was) {
      spec["clusterIPs"] = json::Array{*address};
    }
    for (const char* key : {"ipFamilies", "ipFamilyPolicy"})
      if (const auto* value = (*before)->if_contains(key)) set_if_absent(spec, key, *value);
  }
  if (spec["type"] == "ExternalName" && type_of(old) != "ExternalName")
    for (const char* key :
         {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"})
      spec.stable_erase(key);
  set_families(spec);
}

void check_port(const json::Value& port, const std::string& path, bool needs_name,
                std::set<std::string, std::less<>>& names, FieldErrors& errors) {
  const auto name = text_in(port, "name");
  if (needs_name && name.empty()) {
    errors.push_back(required_value(path + ".name"));
  } else if (!name.empty()) {
    check_name(errors, path + ".name", name, check_dns_label);
    if (!names.emplace(name).second)
      errors.push_back(duplicate_value(path + ".name", json::Value(name)));
  }
  const auto number = json::integer_at(port, "/port").value_or(0);
  if (number < 1 || number > kMostPort)
    errors.push_back(
        invalid_value(path + ".port", number, "must be between 1 and 65535, inclusive"));
  check_choice(errors, path + ".protocol", text_in(port, "protocol"), {"SCTP", "TCP", "UDP"});
  const auto* target = member(port, "targetPort");
  if (target && target->is_int64() && (target->get_int64() < 1 || target->get_int64() > kMostPort))
    errors.push_back(
        invalid_value(path + ".targetPort", *target, "must be between 1 and 65535, inclusive"));
  if (target && target->is_string())
    check_name(errors, path + ".targetPort", target->get_string(), check_port_name);
}

void check_ports(const json::Value& service, FieldErrors& errors) {
  static const json::Value kNone = json::Object{};
  const auto* found = member(service, "spec");
  const json::Value& spec = found ? *found : kNone;
  const auto ports = json::array_at(spec, "/ports");
  const bool some = ports && !(*ports)->empty();
  if (!some && !is_headless(service) && type_of(service) != "ExternalName") {
    errors.push_back(required_value("spec.ports"));
    return;
  }
  std::set<std::string, std::less<>> names;
  for_each_at(spec, "ports", "spec", [&](const json::Value& port, const std::string& path) {
    check_port(port, path, (*ports)->size() > 1, names, errors);
  });
  std::set<std::pair<std::int64_t, std::string>> seen;
  for_each_at(spec, "ports", "spec", [&](const json::Value& port, const std::string& path) {
    const auto number = json::integer_at(port, "/port").value_or(0);
    const std::string protocol(text_in(port, "protocol"));
    if (seen.emplace(number, protocol).second) return;
    errors.push_back(duplicate_value(path, {{"Name", ""},
                                            {"Protocol", protocol},
                                            {"AppProtocol", nullptr},
                                            {"Port", number},
                                            {"TargetPort", 0},
                                            {"NodePort", 0}}));
  });
}

void check_external_name(const json::Value& service, FieldErrors& errors) {
  const auto name = json::text_or(service, "/spec/externalName", "");
  const auto bare = name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
  if (bare.empty())
    errors.push_back(required_value("spec.externalName"));
  else
    check_name(errors, "spec.externalName", to_lower(bare), check_dns_subdomain);
  for (const std::string_view key : {"clusterIPs", "ipFamilies", "ipFamilyPolicy"})
    if (json::find(service, fmt::format("/spec/{}", key)))
      errors.push_back(
          forbidden(fmt::format("spec.{}", key), "may not be set for ExternalName services"));
}

void validate(const json::Value& service, FieldErrors& errors) {
  const auto type = type_of(service);
  const auto address = json::text_or(service, "/spec/clusterIP", "");
  if (!address.empty() && address != "None" && !is_ip_address(address)) {
    // The real server gives out addresses before it looks at anything else.
    errors.push_back(invalid_value("spec.clusterIPs[0]", json::Value(address),
                                   "must be a valid IP address, (e.g. 10.9.8.7 or "
                                   "2001:db8::ffff)"));
    return;
  }
  check_ports(service, errors);
  check_choice(errors, "spec.sessionAffinity", json::text_or(service, "/spec/sessionAffinity", ""),
               {"ClientIP", "None"});
  check_choice(errors, "spec.type", type,
               {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  if (type == "ExternalName") check_external_name(service, errors);
  if (is_headless(service) && (type == "NodePort" || type == "LoadBalancer"))
    errors.push_back(invalid_value("spec.clusterIPs[0]", "None",
                                   fmt::format("may not be set to 'None' for {} services", type)));
  if (const auto selector = json::object_at(service, "/spec/selector"))
    for (const auto& [key, value] : **selector) {
      check_name(errors, "spec.selector", key, check_qualified_name);
      if (value.is_string())
        check_name(errors, "spec.selector", value.get_string(), check_label_value);
    }
}

void validate_update(const json::Value& service, const json::Value& old, FieldErrors& errors) {
  if (type_of(service) == "ExternalName" || type_of(old) == "ExternalName") return;
  const auto before = json::text_or(old, "/spec/clusterIP", "");
  if (before.empty() || before == json::text_or(service, "/spec/clusterIP", "")) return;
  const auto* all = json::find(service, "/spec/clusterIPs");
  errors.insert(errors.begin(), invalid_value("spec.clusterIPs[0]", all ? *all : json::Value(),
                                              "may not change once set"));
}

void validate_status(const json::Value& service, const json::Value&, FieldErrors& errors) {
  const auto ingress = json::array_at(service, "/status/loadBalancer/ingress");
  if (ingress && !(*ingress)->empty() && type_of(service) != "LoadBalancer")
    errors.push_back(forbidden("status.loadBalancer.ingress",
                               "may only be used when `spec.type` is 'LoadBalancer'"));
}

std::vector<std::string> warnings(const json::Value& service, const json::Value*) {
  if (!is_headless(service) || json::text_or(service, "/spec/sessionAffinity", "None") == "None")
    return {};
  return {"spec.SessionAffinity is ignored for headless services"};
}

}  // namespace

const BuiltinKind kServiceRules = {
    .api_version = "v1",
    .kind = "Service",
    .name_rule = check_dns1035_label,
    .create_on_update = true,
    .set_defaults = set_defaults,
    .prepare_for_create = prepare_for_create,
    .prepare_for_update = prepare_for_update,
    .validate = validate,
    .validate_update = validate_update,
    .validate_status = validate_status,
    .warnings = warnings,
};

}  // namespace quorate::apiserver

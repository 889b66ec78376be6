#include "apiserver/request_options.h"

#include <fmt/format.h>

#include <utility>

#include "apiserver/metadata.h"
#include "apiserver/protobuf.h"
#include "base/strings.h"
#include "json/yaml.h"

namespace quorate::apiserver {

namespace {

constexpr std::size_t kLongestManager = 128;

std::string media_type(const std::string& content_type) {
  const auto parts = cut(content_type, ";");
  return to_lower(trim(parts ? parts->before : std::string_view(content_type)));
}

Outcome<json::Value> parse_json(const std::string& text) {
  auto parsed = json::parse(text);
  if (parsed) return std::move(*parsed);
  return fail(bad_request(
      fmt::format("couldn't get version/kind; json parse error: {}", parsed.error().message())));
}

Outcome<json::Value> parse_yaml_text(const std::string& text) {
  auto parsed = json::parse_yaml(text);
  if (parsed) return std::move(parsed->value);
  return fail(bad_request(fmt::format("error decoding YAML: {}", parsed.error().message())));
}

const std::string* find_parameter(const Request& request, const char* name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? nullptr : &found->second;
}

// The first word of the user agent, as fields are owned by default.
std::string default_manager(const Request& request) {
  const auto parts = cut(request.user_agent, "/");
  std::string manager(parts ? parts->before : std::string_view(request.user_agent));
  manager.resize(std::min(manager.size(), kLongestManager));
  return manager.empty() ? "unknown" : manager;
}

// Which metav1 options a method takes, for messages.
std::string_view options_kind(const Request& request) {
  if (request.method == "POST") return "CreateOptions";
  return request.method == "PUT" ? "UpdateOptions" : "PatchOptions";
}

Outcome<bool> parse_dry_run(const std::string* value, std::string_view options) {
  if (!value || value->empty()) return false;
  if (*value == "All") return true;
  return fail(invalid({"meta.k8s.io", std::string(options)}, "",
                      {not_supported("dryRun", json::Array{*value}, {"All"})}));
}

Outcome<Propagation> parse_propagation(std::string_view text) {
  if (text == "Background") return Propagation::kBackground;
  if (text == "Foreground") return Propagation::kForeground;
  if (text == "Orphan") return Propagation::kOrphan;
  return fail(invalid({"meta.k8s.io", "DeleteOptions"}, "",
                      {not_supported("propagationPolicy", json::Value(text),
                                     {"Foreground", "Background", "Orphan", "nil"})}));
}

Outcome<DeleteOptions> delete_options_of(const json::Value& body) {
  DeleteOptions options;
  const auto uid = json::text_at(body, "/preconditions/uid");
  if (uid) options.uid = std::string(*uid);
  const auto version = json::text_at(body, "/preconditions/resourceVersion");
  if (version) options.resource_version = std::string(*version);
  const auto grace = json::integer_at(body, "/gracePeriodSeconds");
  if (grace) options.grace_seconds = *grace;
  const auto propagation = json::text_at(body, "/propagationPolicy");
  if (propagation) {
    TRY(options.propagation, parse_propagation(*propagation));
  }
  const auto orphan = json::flag_at(body, "/orphanDependents");
  if (orphan && propagation)
    return fail(
        invalid({"meta.k8s.io", "DeleteOptions"}, "",
                {invalid_value("propagationPolicy", json::Value(*propagation),
                               "orphanDependents and deletionPropagation cannot be both set")}));
  if (orphan) options.propagation = *orphan ? Propagation::kOrphan : Propagation::kBackground;
  options.old_background = orphan && !*orphan;
  if (const auto dry_run = json::array_at(body, "/dryRun"); dry_run && !(*dry_run)->empty()) {
    const auto& first = (**dry_run)[0];
    const std::string value = first.is_string() ? std::string(first.get_string()) : "";
    TRY(options.dry_run, parse_dry_run(&value, "DeleteOptions"));
  }
  return options;
}

}  // namespace

Outcome<json::Value> parse_body(const Request& request) {
  const auto type = media_type(request.content_type);
  if (type.empty() || type == "application/json") return parse_json(request.body);
  if (type == "application/yaml") return parse_yaml_text(request.body);
  if (type == "application/vnd.kubernetes.protobuf") {
    auto parsed = parse_protobuf(request.body);
    if (parsed) return std::move(*parsed);
    return fail(bad_request(parsed.error().message()));
  }
  return fail(unsupported_media_type(
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json, application/yaml, application/vnd.kubernetes.protobuf"));
}

Outcome<PatchType> parse_patch_type(const Kind& kind, const Request& request) {
  const auto type = media_type(request.content_type);
  if (type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/apply-patch+yaml") return PatchType::kApply;
  if (type == "application/strategic-merge-patch+json" && !kind.custom)
    return PatchType::kStrategic;
  if (kind.custom) {
    auto refusal = unsupported_media_type(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
    refusal.details.reset();
    return fail(std::move(refusal));
  }
  return fail(unsupported_media_type("415: Unsupported Media Type"));
}

Outcome<json::Value> parse_patch(PatchType type, const Request& request) {
  if (type == PatchType::kApply) return parse_yaml_text(request.body);
  auto parsed = json::parse(request.body);
  if (parsed) return std::move(*parsed);
  return fail(bad_request(fmt::format("error decoding patch: {}", parsed.error().message())));
}

Outcome<WriteOptions> parse_write_options(const Request& request) {
  WriteOptions options;
  const auto options_name = options_kind(request);
  TRY(options.dry_run, parse_dry_run(find_parameter(request, "dryRun"), options_name));
  const auto* manager = find_parameter(request, "fieldManager");
  options.manager = manager && !manager->empty() ? *manager : default_manager(request);
  const auto* validation = find_parameter(request, "fieldValidation");
  if (!validation || validation->empty() || *validation == "Warn")
    options.validation = FieldValidation::kWarn;
  else if (*validation == "Strict")
    options.validation = FieldValidation::kStrict;
  else if (*validation == "Ignore")
    options.validation = FieldValidation::kIgnore;
  else
    return fail(invalid({"meta.k8s.io", std::string(options_name)}, "",
                        {not_supported("fieldValidation", json::Value(*validation),
                                       {"", "Ignore", "Strict", "Warn"})}));
  const auto* force = find_parameter(request, "force");
  options.force = force && *force == "true";
  const bool is_apply = media_type(request.content_type) == "application/apply-patch+yaml";
  if (is_apply && (!manager || manager->empty()))
    return fail(invalid({"meta.k8s.io", "PatchOptions"}, "",
                        {required_value("fieldManager", "is required for apply patch")}));
  if (!is_apply && force && request.method == "PATCH")
    return fail(invalid({"meta.k8s.io", "PatchOptions"}, "",
                        {forbidden("force", "may not be specified for non-apply patch")}));
  return options;
}

Outcome<DeleteOptions> parse_delete_options(const Request& request) {
  if (!request.body.empty()) {
    TRY(const auto body, parse_body(request));
    return delete_options_of(body);
  }
  DeleteOptions options;
  TRY(options.dry_run, parse_dry_run(find_parameter(request, "dryRun"), "DeleteOptions"));
  if (const auto* grace = find_parameter(request, "gracePeriodSeconds")) {
    const auto seconds = parse_integer(*grace);
    if (!seconds)
      return fail(
          bad_request(fmt::format("strconv.ParseInt: parsing {}: invalid syntax", quoted(*grace))));
    options.grace_seconds = *seconds;
  }
  if (const auto* propagation = find_parameter(request, "propagationPolicy")) {
    TRY(options.propagation, parse_propagation(*propagation));
  }
  return options;
}

Outcome<DeleteOptions> parse_eviction(const json::Value& eviction, const std::string& pod) {
  const auto kind = json::text_or(eviction, "/kind", "Eviction");
  if (kind != "Eviction")
    return fail(bad_request(fmt::format("{} in version \"{}\" cannot be handled as a Eviction",
                                        kind, json::text_or(eviction, "/apiVersion", ""))));
  if (name_of(eviction) != pod)
    return fail(bad_request("name in URL does not match name in Eviction object"));
  const auto* options = json::find(eviction, "/deleteOptions");
  if (!options || !options->is_object()) return DeleteOptions{};
  return delete_options_of(*options);
}

}  // namespace quorate::apiserver

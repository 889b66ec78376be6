// Verbs: patches of all four kinds.

#include "json/patch.h"

#include <fmt/format.h>

#include <utility>

#include "apiserver/metadata.h"
#include "apiserver/verbs.h"
#include "apiserver/views.h"

namespace quorate::apiserver {

namespace {

Refusal conflicting(const ApplyFailure& failure) {
  if (!failure.error.empty() && failure.status == 400) return bad_request(failure.error);
  if (!failure.error.empty())
    return {.code = failure.status,
            .reason = failure.status == 409 ? "Conflict" : "",
            .message = failure.error,
            .details = {},
            .retry_after_seconds = {}};
  return {.code = 409,
          .reason = "Conflict",
          .message = conflict_message(failure.conflicts),
          .details = json::Object{{"causes", conflict_causes(failure.conflicts)}},
          .retry_after_seconds = {}};
}

// A patch that led to what cannot be read: the whole outcome stands in the answer.
Refusal not_readable(const json::Value& object, const Refusal& why) {
  const auto at = why.message.find(": ");
  const auto reason = at == std::string::npos ? why.message : why.message.substr(at + 2);
  auto refusal =
      invalid({"", ""}, "", {invalid_value("patch", json::Value(json::render(object)), reason)});
  refusal.warnings = why.warnings;
  return refusal;
}

// An apply that could be merged, but to what the kind cannot hold.
Refusal not_convertible(const Kind& kind, std::string_view whom, const Refusal& why) {
  const auto at = why.message.find(": ");
  auto reason = at == std::string::npos ? why.message : why.message.substr(at + 2);
  if (reason.starts_with("illegal base64")) reason.insert(0, "error decoding from json: ");
  const auto type =
      fmt::format("{}{}, Kind={}", kind.group.empty() ? "/" : "", kind.api_version(), kind.kind);
  return {.code = 500,
          .reason = "",
          .message = fmt::format("failed to convert new object ({}; {}) to proper version: unable "
                                 "to convert unstructured object to {}: {}",
                                 whom, type, type, reason),
          .details = {},
          .retry_after_seconds = {}};
}

// A JSON patch, operation by operation. The real server's `replace` adds a member that is not
// there, where RFC 6902 wants it to fail.
Result<json::Value> apply_operations(json::Value object, const json::Array& operations) {
  for (auto operation : operations) {
    const auto path = json::text_or(operation, "/path", "");
    if (json::text_or(operation, "/op", "") == "replace" && !json::find(object, path)) {
      const auto* parent = json::find(object, path.substr(0, path.rfind('/')));
      if (parent && parent->is_object()) operation.as_object()["op"] = "add";
    }
    TRY(object, json::apply_json_patch(object, json::Array{operation}));
  }
  return object;
}

// An applied configuration says what it is.
Outcome<void> check_configuration(const Kind& kind, const json::Value& config) {
  const auto api_version = json::text_or(config, "/apiVersion", "");
  const auto name = json::text_or(config, "/kind", "");
  if (api_version == kind.api_version() && name == kind.kind) return {};
  const bool grouped = api_version.find('/') != std::string_view::npos;
  return fail(bad_request(
      fmt::format("invalid object type: {}{}, Kind={}", grouped ? "" : "/", api_version, name)));
}

}  // namespace

Outcome<Written> Verbs::patch(const Kind& kind, const ObjectKey& key, PatchType type,
                              const json::Value& patch, const WriteOptions& options) {
  if (type == PatchType::kApply) return apply({kind, key}, patch, options);
  const auto record = storage_.find(kind, key);
  if (!record) return fail(not_found(kind.resource(), key.name));
  const auto stored = view_of(kind, *record);
  const auto& old = *stored;
  TRY(auto object, patched(kind, old, type, patch));
  std::vector<std::string> warnings;
  auto decoded = decode(kind, object, options, warnings, &old);
  if (!decoded) {
    TRY(const auto whole, patched(kind, old, type, patch));
    return fail(not_readable(whole, decoded.error()));
  }
  const auto done = [&]() -> Outcome<Written> {
    if (kind.namespaced && namespace_of(object).empty()) metadata_of(object)["namespace"] = key.ns;
    if (name_of(object) != key.name)
      return fail(bad_request(
          fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                      name_of(object), key.name)));
    track_update(object, old, kind.rules->schema(), writer(kind, options),
                 kind.rules->reset_fields(options.subresource));
    return store_change({kind, key}, std::move(object), stored, options);
  };
  return warned(done(), std::move(warnings));
}

Outcome<json::Value> Verbs::patched(const Kind& kind, const json::Value& old, PatchType type,
                                    const json::Value& patch) const {
  if (type == PatchType::kJson && !patch.is_array())
    return fail(
        bad_request("error decoding patch: json: cannot unmarshal object into Go value of "
                    "type []handlers.jsonPatchOp"));
  if (type != PatchType::kJson && !patch.is_object())
    return fail(
        bad_request("error decoding patch: json: cannot unmarshal array into Go value of "
                    "type map[string]interface {}"));
  if (type == PatchType::kMerge) return json::apply_merge_patch(old, patch);
  auto made = type == PatchType::kJson ? apply_operations(old, patch.get_array())
                                       : json::apply_strategic_merge_patch(old, patch, kind.merge);
  if (made) return std::move(*made);
  if (type == PatchType::kStrategic) return fail(bad_request(made.error().text()));
  return fail(Refusal{.code = 422,
                      .reason = "Invalid",
                      .message = "the server rejected our request due to an error in our request",
                      .details = json::Object(),
                      .retry_after_seconds = {}});
}

Outcome<Written> Verbs::apply(const Target& target, json::Value config,
                              const WriteOptions& options) {
  const auto& [kind, key] = target;
  TRY(check_configuration(kind, config));
  const auto record = storage_.find(kind, key);
  const auto stored = record ? view_of(kind, *record) : std::make_shared<const json::Value>();
  const auto& old = *stored;
  if (!record && !options.subresource.empty()) return fail(not_found(kind.resource(), key.name));
  if (!record && !uid_of(config).empty())
    return fail(conflict(kind.resource(), key.name,
                         fmt::format("uid mismatch: the provided object specified uid {}, and no "
                                     "existing object was found",
                                     uid_of(config))));
  const auto whom = fmt::format("{}/{}", namespace_of(config), name_of(config));
  auto applied = apply_configuration(old, config, kind.rules->schema(), writer(kind, options),
                                     options.force, kind.rules->reset_fields(options.subresource));
  if (!applied.object) return fail(conflicting(applied.failure));
  auto object = std::move(*applied.object);
  std::vector<std::string> warnings;
  auto decoded = decode(kind, object, options, warnings, &old);
  if (!decoded) return fail(not_convertible(kind, whom, decoded.error()));
  if (kind.namespaced && namespace_of(object).empty()) metadata_of(object)["namespace"] = key.ns;
  auto done = record ? store_change(target, std::move(object), stored, options)
                     : store_new(kind, key.ns, std::move(object), options);
  return warned(std::move(done), std::move(warnings));
}

}  // namespace quorate::apiserver

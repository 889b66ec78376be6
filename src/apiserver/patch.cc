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

}  // namespace

Outcome<Written> Verbs::patch(const Kind& kind, const ObjectKey& key, PatchType type,
                              const json::Value& patch, const WriteOptions& options) {
  if (type == PatchType::kApply) return apply({kind, key}, patch, options);
  const auto record = storage_.find(kind, key);
  if (!record) return fail(not_found(kind.resource(), key.name));
  const auto old = to_view(kind, record->value());
  TRY(auto object, patched(kind, old, type, patch));
  std::vector<std::string> warnings;
  TRY(decode(kind, object, options, warnings));
  if (kind.namespaced && namespace_of(object).empty()) metadata_of(object)["namespace"] = key.ns;
  if (name_of(object) != key.name)
    return fail(bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                    name_of(object), key.name)));
  track_update(object, old, kind.rules->schema(), writer(kind, options),
               kind.rules->reset_fields(options.subresource));
  return store_change({kind, key}, std::move(object), old, options, std::move(warnings));
}

Outcome<json::Value> Verbs::patched(const Kind& kind, const json::Value& old, PatchType type,
                                    const json::Value& patch) const {
  if (type == PatchType::kMerge) return json::apply_merge_patch(old, patch);
  auto made = type == PatchType::kJson ? json::apply_json_patch(old, patch)
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
  std::vector<std::string> warnings;
  if (!config.is_object()) return fail(bad_request("error decoding patch: expected an object"));
  const auto record = storage_.find(kind, key);
  const json::Value old = record ? to_view(kind, record->value()) : json::Value();
  if (!record && !options.subresource.empty()) return fail(not_found(kind.resource(), key.name));
  if (!record && !uid_of(config).empty())
    return fail(conflict(kind.resource(), key.name,
                         fmt::format("uid mismatch: the provided object specified uid {}, and no "
                                     "existing object was found",
                                     uid_of(config))));
  auto applied = apply_configuration(old, config, kind.rules->schema(), writer(kind, options),
                                     options.force, kind.rules->reset_fields(options.subresource));
  if (!applied.object) return fail(conflicting(applied.failure));
  auto object = std::move(*applied.object);
  TRY(decode(kind, object, options, warnings));
  if (kind.namespaced && namespace_of(object).empty()) metadata_of(object)["namespace"] = key.ns;
  if (!record) {
    return store_new(kind, key.ns, std::move(object), options, std::move(warnings));
  }
  return store_change(target, std::move(object), old, options, std::move(warnings));
}

}  // namespace quorate::apiserver

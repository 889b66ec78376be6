// Verbs: updates, whole or of a subresource, and what patches share with them.

#include <fmt/format.h>

#include <utility>

#include "apiserver/metadata.h"
#include "apiserver/verbs.h"
#include "apiserver/views.h"
#include "base/strings.h"
#include "json/quantity.h"

namespace quorate::apiserver {

namespace {

// Where the real server keeps an object in etcd; what is only tried has no root there.
std::string storage_key(const Kind& kind, const ObjectKey& key, bool dry_run) {
  const auto place = key.ns.empty() ? key.name : fmt::format("{}/{}", key.ns, key.name);
  const std::string_view root = dry_run ? "" : "/registry";
  if (kind.custom) return fmt::format("{}/{}/{}/{}", root, kind.group, kind.plural, place);
  const std::string_view plural = kind.plural == "services" ? "services/specs"
                                  : kind.plural == "nodes"  ? "minions"
                                                            : std::string_view(kind.plural);
  return fmt::format("{}/{}/{}", root, plural, place);
}

// Of an update that names the UID of its object.
Outcome<void> check_uid(const Kind& kind, const ObjectKey& key, std::string_view wanted,
                        std::string_view found, bool dry_run) {
  if (wanted.empty() || wanted == found) return {};
  auto why = fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                         wanted, found);
  why = fmt::format(
      "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: "
      "{}",
      storage_key(kind.stored(), key, dry_run), why);
  return fail(conflict(kind.resource(), key.name, why));
}

// A name or namespace that differs from the one in the path.
Outcome<void> check_key(const Kind& kind, const ObjectKey& key, json::Value& object) {
  const std::string name(name_of(object)), ns(namespace_of(object));
  if (name.empty())
    return fail(bad_request(fmt::format(
        "the name of the object ({} based on URL) was undeterminable: name must be provided",
        key.name)));
  if (name != key.name)
    return fail(bad_request(fmt::format(
        "the name of the object ({}) does not match the name on the URL ({})", name, key.name)));
  if (kind.namespaced && !ns.empty() && ns != key.ns)
    return fail(
        bad_request("the namespace of the provided object does not match the namespace "
                    "sent on the request"));
  if (kind.namespaced)
    metadata_of(object)["namespace"] = key.ns;
  else
    metadata_of(object).stable_erase("namespace");
  return {};
}

// Whether the last thing that kept a deleted object is gone with this change.
bool deletes_now(const json::Value& object, const json::Value& old, bool is_namespace) {
  if (!is_deleting(old) || !finalizers_of(object).empty()) return false;
  if (is_namespace) {
    const auto left = json::array_at(object, "/spec/finalizers");
    return !left || (*left)->empty();
  }
  const auto grace = grace_of(old);
  return !grace || *grace == 0;
}

// A claim grows where its class says that it may.
Outcome<void> check_growth(const Storage& storage, const Registry::BuiltIn& kinds,
                           const json::Value& claim, const json::Value& old) {
  const auto size = [](const json::Value& object) {
    const auto* found = json::find(object, "/spec/resources/requests/storage");
    const auto quantity = found ? json::Quantity::from_json(*found) : json::Quantity();
    return quantity.value_or(json::Quantity());
  };
  if (!(size(old) < size(claim))) return {};
  const std::string name(json::text_or(claim, "/spec/storageClassName", ""));
  const auto record = storage.find(*kinds.storage_classes, {"", name});
  if (record && json::flag_at(*record->decoded(), "/allowVolumeExpansion").value_or(false))
    return {};
  return fail(forbidden(kinds.claims->resource(), name_of(claim),
                        "only dynamically provisioned pvc can be resized and the storageclass that "
                        "provisions the pvc must support resize"));
}

}  // namespace

Outcome<Written> Verbs::update(const Kind& kind, const ObjectKey& key, json::Value object,
                               const WriteOptions& options) {
  std::vector<std::string> warnings;
  const auto record = storage_.find(kind, key);
  const auto stored = record ? view_of(kind, *record) : nullptr;
  TRY(decode(kind, object, options, warnings, stored.get()));
  return warned(update_decoded({kind, key}, std::move(object), options), std::move(warnings));
}

Outcome<Written> Verbs::update_decoded(const Target& target, json::Value object,
                                       const WriteOptions& options) {
  const auto& [kind, key] = target;
  TRY(check_key(kind, key, object));
  const auto record = storage_.find(kind, key);
  const auto stored = record ? view_of(kind, *record) : std::make_shared<const json::Value>();
  const auto& old = *stored;
  const bool may_create = options.subresource.empty() && kind.rules->allows_create_on_update();
  if (!record && !may_create) return fail(not_found(kind.resource(), key.name));
  TRY(check_uid(kind, key, uid_of(object), record ? uid_of(old) : "", options.dry_run));
  if (!record) {
    if (!options.dry_run) metadata_of(object).stable_erase("resourceVersion");
    track_update(object, nullptr, kind.rules->schema(), writer(kind, options),
                 kind.rules->reset_fields(""));
    return store_new(kind, key.ns, std::move(object), options);
  }
  track_update(object, old, kind.rules->schema(), writer(kind, options),
               kind.rules->reset_fields(options.subresource));
  return store_change(target, std::move(object), stored, options);
}

Outcome<void> Verbs::check_version(const Target& target, json::Value& object,
                                   const json::Value& old) const {
  const auto& [kind, key] = target;
  const std::string wanted(version_of(object));
  if (wanted.empty()) {
    if (!kind.rules->allows_unconditional_update())
      return fail(invalid(
          kind.resource(), key.name,
          {invalid_value("metadata.resourceVersion", 0, "must be specified for an update")}));
    copy_metadata(object, old, "resourceVersion");
    return {};
  }
  if (!parse_integer(wanted))
    return fail(Refusal{
        .code = 500,
        .reason = "",
        .message = fmt::format("strconv.ParseUint: parsing {}: invalid syntax", quoted(wanted)),
        .details = {},
        .retry_after_seconds = {}});
  if (wanted != version_of(old)) return fail(modified_meanwhile(kind.resource(), key.name));
  return {};
}

// The rest of every change: `object` has its managed fields by now and may name the version that
// it was made from.
Outcome<Written> Verbs::store_change(const Target& target, json::Value object,
                                     const Decoded& stored, const WriteOptions& options) {
  const auto& [kind, key] = target;
  const auto& old = *stored;
  TRY(check_version(target, object, old));
  copy_metadata(object, old, "generation");
  kind.rules->prepare_for_update(object, old, options.subresource);
  if (uid_of(object).empty()) copy_metadata(object, old, "uid");
  copy_metadata(object, old, "creationTimestamp");
  if (is_deleting(old)) copy_metadata(object, old, "deletionTimestamp");
  if (grace_of(old) && !grace_of(object)) copy_metadata(object, old, "deletionGracePeriodSeconds");
  if (&kind == registry_.built_in().services && options.subresource.empty())
    TRY(addresses_.assign(object, old, *runtime_.random));

  auto errors = validate_metadata_update(object, old);
  for (auto& error : kind.rules->validate_update(object, old, options.subresource))
    errors.push_back(std::move(error));
  if (!errors.empty()) return fail(invalid(kind.stored().kind_name(), key.name, errors));
  if (&kind == registry_.built_in().claims && options.subresource.empty())
    TRY(check_growth(storage_, registry_.built_in(), object, old));
  auto warnings = kind.rules->warnings(object, &old);

  const bool ends = deletes_now(object, old, &kind == registry_.built_in().namespaces);
  if (!ends && same_but_for_managed_times(object, old))
    return Written{stored, false, std::move(warnings)};
  if (ends && !options.dry_run) storage_.remove(kind, key);
  if (ends || options.dry_run)
    return Written{std::make_shared<const json::Value>(std::move(object)), false,
                   std::move(warnings)};
  const auto record = storage_.update(kind, key, to_stored(kind, std::move(object)));
  return Written{view_of(kind, *record), false, std::move(warnings)};
}

}  // namespace quorate::apiserver

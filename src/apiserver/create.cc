// Verbs: reading one object, and creation.

#include <fmt/format.h>

#include <utility>

#include "apiserver/metadata.h"
#include "apiserver/verbs.h"
#include "apiserver/views.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kNameLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr int kNameLength = 5;
constexpr int kNameTries = 8;
constexpr std::size_t kLongestBase = 63 - kNameLength;

// The first member stands first in the text, so that lists of built-in kinds can leave both out.
json::Value with_type_first(const Kind& kind, json::Value object) {
  json::Object ordered;
  if (kind.custom)
    ordered = {{"apiVersion", kind.api_version()}, {"kind", kind.kind}};
  else
    ordered = {{"kind", kind.kind}, {"apiVersion", kind.api_version()}};
  for (auto& [key, value] : object.as_object())
    if (key != "apiVersion" && key != "kind") ordered[key] = std::move(value);
  return ordered;
}

}  // namespace

Verbs::Verbs(rt::Runtime runtime, const Registry& registry, Storage& storage, Settings settings)
    : runtime_(runtime),
      registry_(registry),
      storage_(storage),
      addresses_(storage, *registry.built_in().services, settings.service_cidr) {}

RuleContext Verbs::context(bool dry_run) const {
  return {.now = runtime_.clock->wall(), .random = runtime_.random, .dry_run = dry_run};
}

Writer Verbs::writer(const Kind& kind, const WriteOptions& options) const {
  return {.manager = options.manager,
          .api_version = kind.api_version(),
          .subresource = options.subresource,
          .now = runtime_.clock->wall()};
}

Outcome<Decoded> Verbs::get(const Kind& kind, const ObjectKey& key) const {
  const auto record = storage_.find(kind, key);
  if (!record) return fail(not_found(kind.resource(), key.name));
  return view_of(kind, *record);
}

// What the object says that it is. Built-in kinds may leave it out.
Outcome<void> Verbs::check_type(const Kind& kind, const json::Value& object) const {
  const auto unrecognized = [&](std::string_view why) {
    return fail(
        bad_request(fmt::format("the object provided is unrecognized (must be of type {}): {} ({})",
                                kind.kind, why, json::render(object))));
  };
  if (!object.is_object())
    return unrecognized("couldn't get version/kind; json parse error: json: cannot unmarshal");
  const std::string api_version(json::text_or(object, "/apiVersion", ""));
  const std::string name(json::text_or(object, "/kind", ""));
  if (kind.custom && name.empty())
    return unrecognized(fmt::format("Object 'Kind' is missing in '{}'", json::render(object)));
  const bool same_version = api_version.empty() || api_version == kind.api_version();
  if (same_version && (name.empty() || name == kind.kind)) return {};
  if (kind.custom) {
    FieldErrors errors;
    if (name != kind.kind)
      errors.push_back(invalid_value("kind", json::Value(name), "must be " + kind.kind));
    if (!same_version)
      errors.push_back(
          invalid_value("apiVersion", json::Value(api_version), "must be " + kind.api_version()));
    return fail(invalid({kind.group, name}, name_of(object), errors));
  }
  const auto version = api_version.empty() ? kind.api_version() : api_version;
  const auto own_name = name.empty() ? kind.kind : name;
  const auto* other = registry_.find_kind(version, own_name);
  const auto package = kind.group.empty() ? "core" : kind.group.substr(0, kind.group.find('.'));
  const auto why = other && !other->custom
                       ? fmt::format("converting ({}.{}) to ({}.{}): unknown conversion",
                                     other->version, other->kind, package, kind.kind)
                       : fmt::format(
                             "no kind \"{}\" is registered for version \"{}\" in scheme "
                             "\"pkg/runtime/scheme.go:110\"",
                             own_name, version);
  return fail(
      bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", own_name,
                              version.substr(version.find('/') + 1), kind.kind, why)));
}

// Brings what was sent into the form that is stored. What is found unknown goes to `warnings`, also
// if the object is refused later: `warned` hands them on.
Outcome<void> Verbs::decode(const Kind& kind, json::Value& object, const WriteOptions& options,
                            std::vector<std::string>& warnings, const json::Value* known) const {
  TRY(check_type(kind, object));
  object = with_type_first(kind, std::move(object));
  auto decoded = kind.rules->decode(object, known);
  const auto refuse = [&](std::string_view why) {
    return fail(bad_request(undecodable(kind.kind, kind.version, why)));
  };
  if (!decoded.error.empty()) return refuse(decoded.error);
  if (decoded.strict.empty() || options.validation == FieldValidation::kIgnore) return {};
  if (options.validation == FieldValidation::kStrict) return refuse(strict_error(decoded.strict));
  warnings.insert(warnings.end(), decoded.strict.begin(), decoded.strict.end());
  return {};
}

// New content needs a namespace that is there and is not going away.
Outcome<void> Verbs::admit_namespace(const Kind& kind, const std::string& ns,
                                     std::string_view name) const {
  if (!kind.namespaced) return {};
  const auto& namespaces = *registry_.built_in().namespaces;
  const auto record = storage_.find(namespaces, {"", ns});
  if (!record) return fail(not_found(namespaces.resource(), ns));
  const auto stored = record->decoded();
  if (json::text_or(*stored, "/status/phase", "") != "Terminating" && !is_deleting(*stored))
    return {};
  const auto why = fmt::format(
      "unable to create new content in namespace {} because it is being terminated", ns);
  auto refusal = forbidden(kind.resource(), name, why);
  (*refusal.details)["causes"] =
      json::Array{{{"reason", "NamespaceTerminating"},
                   {"message", fmt::format("namespace {} is being terminated", ns)},
                   {"field", "metadata.namespace"}}};
  return fail(std::move(refusal));
}

// What admission adds beyond the object's own rules: claims take the default class.
void Verbs::admit(const Kind& kind, json::Value& object, bool dry_run) const {
  kind.rules->admit(object, context(dry_run));
  if (&kind != registry_.built_in().claims || json::find(object, "/spec/storageClassName")) return;
  for (const auto& [key, record] : storage_.objects(*registry_.built_in().storage_classes)) {
    const auto storage_class = record->decoded();
    const auto is_default = json::text_or(
        *storage_class, "/metadata/annotations/storageclass.kubernetes.io~1is-default-class", "");
    if (is_default != "true") continue;
    (void)json::put(object, "/spec/storageClassName", json::Value(key.name));
    return;
  }
}

Outcome<Written> Verbs::create(const Kind& kind, const std::string& ns, json::Value object,
                               const WriteOptions& options) {
  std::vector<std::string> warnings;
  TRY(decode(kind, object, options, warnings));
  return warned(create_decoded(kind, ns, std::move(object), options), std::move(warnings));
}

Outcome<Written> Verbs::create_decoded(const Kind& kind, const std::string& ns, json::Value object,
                                       const WriteOptions& options) {
  auto& metadata = metadata_of(object);
  const std::string own_ns(namespace_of(object));
  if (kind.namespaced && !own_ns.empty() && own_ns != ns)
    return fail(
        bad_request("the namespace of the provided object does not match the namespace "
                    "sent on the request"));
  if (kind.namespaced)
    metadata["namespace"] = ns;
  else
    metadata.stable_erase("namespace");
  for (const char* member :
       {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"})
    metadata.stable_erase(member);
  track_update(object, nullptr, kind.rules->schema(), writer(kind, options),
               kind.rules->reset_fields(""));
  return store_new(kind, ns, std::move(object), options);
}

// The outcome with these warnings before its own.
Outcome<Written> Verbs::warned(Outcome<Written> outcome, std::vector<std::string> warnings) {
  auto& own = outcome ? outcome->warnings : outcome.error().warnings;
  for (auto& warning : own) warnings.push_back(std::move(warning));
  own = std::move(warnings);
  return outcome;
}

Outcome<Written> Verbs::store_new(const Kind& kind, const std::string& ns, json::Value object,
                                  const WriteOptions& options) {
  TRY(admit_namespace(kind, ns, name_of(object)));
  admit(kind, object, options.dry_run);

  auto& metadata = metadata_of(object);
  metadata["uid"] = make_uid();
  metadata["creationTimestamp"] = json::render_time(runtime_.clock->wall());
  TRY(choose_name(kind, ns, metadata_of(object)));
  kind.rules->prepare_for_create(object, context(options.dry_run));
  const auto errors = kind.rules->validate(object);
  if (!errors.empty()) return fail(invalid(kind.stored().kind_name(), name_of(object), errors));

  if (&kind == registry_.built_in().services)
    TRY(addresses_.assign(object, nullptr, *runtime_.random));
  const ObjectKey key{kind.namespaced ? ns : "", std::string(name_of(object))};
  if (!version_of(object).empty() && !options.dry_run)
    return fail(Refusal{.code = 500,
                        .reason = "",
                        .message = "resourceVersion should not be set on objects to be created",
                        .details = {},
                        .retry_after_seconds = {}});
  if (const auto there = storage_.find(kind, key))
    return fail(already_exists(kind.resource(), key.name, is_deleting(*there->decoded())));
  auto warnings = kind.rules->warnings(object, nullptr);
  auto made = options.dry_run
                  ? std::make_shared<const json::Value>(std::move(object))
                  : view_of(kind, *storage_.create(kind, key, to_stored(kind, std::move(object))));
  return Written{std::move(made), true, std::move(warnings)};
}

Outcome<void> Verbs::choose_name(const Kind& kind, const std::string& ns, json::Object& metadata) {
  const auto text = [&](const char* member) {
    const auto* value = metadata.if_contains(member);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  if (!text("name").empty()) return {};
  auto base = text("generateName");
  if (base.empty()) return {};  // validation says so
  base.resize(std::min(base.size(), kLongestBase));
  for (int i = 0; i < kNameTries; ++i) {
    metadata["name"] = base + make_name_suffix();
    if (!storage_.find(kind, {kind.namespaced ? ns : "", text("name")})) return {};
  }
  return {};
}

std::string Verbs::make_uid() {
  const auto high = runtime_.random->next();
  const auto low = runtime_.random->next();
  // RFC 9562, version 4.
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff,
                     high & 0xfff, (low >> 48 & 0x3fff) | 0x8000, low & 0xffffffffffff);
}

std::string Verbs::make_name_suffix() {
  std::string suffix;
  for (int i = 0; i < kNameLength; ++i)
    suffix += kNameLetters[runtime_.random->below(kNameLetters.size())];
  return suffix;
}

}  // namespace quorate::apiserver

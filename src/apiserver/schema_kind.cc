#include "apiserver/schema_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.h"

namespace quorate::apiserver {

namespace {

constexpr std::size_t kMostAnnotationBytes = std::size_t{256} << 10;

void add(FieldErrors& errors, const std::string& field, std::string_view value,
         const NameProblems& problems) {
  for (const auto& problem : problems)
    errors.push_back(invalid_value(field, json::Value(value), problem));
}

const json::Object* member(const json::Value& object, std::string_view pointer) {
  const auto* found = json::find(object, pointer);
  return found ? found->if_object() : nullptr;
}

std::vector<std::string> texts_at(const json::Value& object, std::string_view pointer) {
  std::vector<std::string> out;
  if (const auto* list = json::find(object, pointer); list && list->is_array())
    for (const auto& item : list->get_array())
      if (item.is_string()) out.emplace_back(item.get_string());
  return out;
}

void check_names(FieldErrors& errors, const json::Value& object, bool namespaced, NameRule rule) {
  const auto prefix = json::text_or(object, "/metadata/generateName", "");
  if (!prefix.empty()) add(errors, "metadata.generateName", prefix, check_prefix(rule, prefix));
  const auto name = json::text_or(object, "/metadata/name", "");
  if (name.empty())
    errors.push_back(required_value("metadata.name", "name or generateName is required"));
  else
    add(errors, "metadata.name", name, rule(name));
  const auto ns = json::text_or(object, "/metadata/namespace", "");
  if (!namespaced && !ns.empty())
    errors.push_back(forbidden("metadata.namespace", "not allowed on this type"));
  if (namespaced && ns.empty()) errors.push_back(required_value("metadata.namespace"));
  if (namespaced && !ns.empty()) add(errors, "metadata.namespace", ns, check_dns_label(ns));
}

void check_labels(FieldErrors& errors, const json::Value& object) {
  const auto* labels = member(object, "/metadata/labels");
  if (!labels) return;
  for (const auto& [key, value] : *labels) {
    add(errors, "metadata.labels", key, check_qualified_name(key));
    if (value.is_string())
      add(errors, "metadata.labels", value.get_string(), check_label_value(value.get_string()));
  }
}

void check_annotations(FieldErrors& errors, const json::Value& object) {
  const auto* annotations = member(object, "/metadata/annotations");
  if (!annotations) return;
  std::size_t size = 0;
  for (const auto& [key, value] : *annotations) {
    add(errors, "metadata.annotations", key, check_qualified_name(to_lower(key)));
    size += key.size() + (value.is_string() ? value.get_string().size() : 0);
  }
  if (size > kMostAnnotationBytes)
    errors.push_back(too_long("metadata.annotations", kMostAnnotationBytes));
}

void check_owner(FieldErrors& errors, const json::Value& owner) {
  const auto need = [&](std::string_view name, std::string_view message) {
    const auto text = json::text_or(owner, fmt::format("/{}", name), "");
    if (text.empty())
      errors.push_back(
          invalid_value(fmt::format("metadata.ownerReferences.{}", name), "", message));
  };
  need("apiVersion", "version must not be empty");
  need("kind", "must not be empty");
  need("name", "must not be empty");
  need("uid", "must not be empty");
  if (json::text_or(owner, "/apiVersion", "") == "v1" &&
      json::text_or(owner, "/kind", "") == "Event")
    errors.push_back(invalid_value("metadata.ownerReferences", owner,
                                   "/v1, Kind=Event is disallowed from being an owner"));
}

void check_owners(FieldErrors& errors, const json::Value& object) {
  const auto* owners = json::find(object, "/metadata/ownerReferences");
  if (!owners || !owners->is_array()) return;
  std::string controller;
  for (const auto& owner : owners->get_array()) {
    check_owner(errors, owner);
    if (!json::flag_at(owner, "/controller").value_or(false)) continue;
    const auto name =
        fmt::format("{}/{}", json::text_or(owner, "/kind", ""), json::text_or(owner, "/name", ""));
    if (controller.empty())
      controller = name;
    else
      errors.push_back(invalid_value(
          "metadata.ownerReferences", *owners,
          fmt::format("Only one reference can have Controller set to true. Found \"true\" in "
                      "references for {} and {}",
                      controller, name)));
  }
}

void check_finalizers(FieldErrors& errors, const json::Value& object) {
  bool orphan = false, foreground = false;
  for (const auto& name : texts_at(object, "/metadata/finalizers")) {
    add(errors, "metadata.finalizers", name, check_qualified_name(name));
    orphan |= name == "orphan";
    foreground |= name == "foregroundDeletion";
  }
  if (orphan && foreground)
    errors.push_back(invalid_value("metadata.finalizers",
                                   *json::find(object, "/metadata/finalizers"),
                                   "finalizer orphan and foregroundDeletion cannot be both set"));
}

void check_new_finalizers(FieldErrors& errors, const json::Value& object, const json::Value& old) {
  if (!json::find(old, "/metadata/deletionTimestamp")) return;
  const auto before = texts_at(old, "/metadata/finalizers");
  std::set<std::string> added;
  for (const auto& name : texts_at(object, "/metadata/finalizers"))
    if (std::find(before.begin(), before.end(), name) == before.end()) added.insert(name);
  if (added.empty()) return;
  std::vector<std::string> shown;
  for (const auto& name : added) shown.push_back(quoted(name));
  errors.push_back(
      forbidden("metadata.finalizers",
                fmt::format("no new finalizers can be added if the object is being deleted, found "
                            "new finalizers []string{{{}}}",
                            fmt::join(shown, ", "))));
}

}  // namespace

FieldErrors validate_metadata(const json::Value& object, bool namespaced, NameRule rule) {
  FieldErrors errors;
  check_names(errors, object, namespaced, rule);
  check_labels(errors, object);
  check_annotations(errors, object);
  check_owners(errors, object);
  check_finalizers(errors, object);
  return errors;
}

FieldErrors validate_metadata_update(const json::Value& object, const json::Value& old) {
  FieldErrors errors;
  check_finalizers(errors, object);
  check_new_finalizers(errors, object, old);
  for (const std::string_view name : {"name", "namespace", "uid", "creationTimestamp",
                                      "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const auto pointer = fmt::format("/metadata/{}", name);
    const auto* now = json::find(object, pointer);
    const auto* before = json::find(old, pointer);
    const bool same = now && before ? json::equal(*now, *before) : now == before;
    if (!same)
      errors.push_back(invalid_value(fmt::format("metadata.{}", name),
                                     now ? *now : json::Value(nullptr), "field is immutable"));
  }
  check_labels(errors, object);
  check_annotations(errors, object);
  check_owners(errors, object);
  return errors;
}

std::string undecodable(std::string_view kind, std::string_view version, std::string_view why) {
  return fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind, version, kind,
                     why);
}

std::string strict_error(const std::vector<std::string>& strict) {
  return fmt::format("strict decoding error: {}", fmt::join(strict, ", "));
}

}  // namespace quorate::apiserver

#include "apiserver/metadata.h"

namespace quorate::apiserver {

json::Object& metadata_of(json::Value& object) {
  auto& metadata = object.as_object()["metadata"];
  if (!metadata.is_object()) metadata = json::Object();
  return metadata.get_object();
}

std::string_view name_of(const json::Value& object) {
  return json::text_or(object, "/metadata/name", "");
}

std::string_view namespace_of(const json::Value& object) {
  return json::text_or(object, "/metadata/namespace", "");
}

std::string_view uid_of(const json::Value& object) {
  return json::text_or(object, "/metadata/uid", "");
}

std::string_view version_of(const json::Value& object) {
  const auto version = json::text_or(object, "/metadata/resourceVersion", "");
  return version == "0" ? std::string_view() : version;
}

bool is_deleting(const json::Value& object) {
  return !json::text_or(object, "/metadata/deletionTimestamp", "").empty();
}

std::vector<std::string> finalizers_of(const json::Value& object) {
  std::vector<std::string> finalizers;
  const auto* found = json::find(object, "/metadata/finalizers");
  if (const auto* list = found ? found->if_array() : nullptr)
    for (const auto& finalizer : *list)
      if (finalizer.is_string()) finalizers.emplace_back(finalizer.get_string());
  return finalizers;
}

void set_finalizers(json::Value& object, const std::vector<std::string>& finalizers) {
  auto& metadata = metadata_of(object);
  if (finalizers.empty()) {
    metadata.stable_erase("finalizers");
    return;
  }
  json::Array list;
  for (const auto& finalizer : finalizers) list.emplace_back(finalizer);
  metadata["finalizers"] = std::move(list);
}

std::optional<std::int64_t> grace_of(const json::Value& object) {
  const auto* found = json::find(object, "/metadata/deletionGracePeriodSeconds");
  const auto* grace = found ? found->if_int64() : nullptr;
  return grace ? std::optional(*grace) : std::nullopt;
}

void raise_generation(json::Value& object) {
  const auto generation = json::integer_at(object, "/metadata/generation");
  if (generation && *generation > 0) metadata_of(object)["generation"] = *generation + 1;
}

void copy_metadata(json::Value& to, const json::Value& from, std::string_view member) {
  const auto* metadata = json::find(from, "/metadata");
  const auto* members = metadata ? metadata->if_object() : nullptr;
  const auto* value = members ? members->if_contains(member) : nullptr;
  if (value)
    metadata_of(to)[member] = *value;
  else
    metadata_of(to).stable_erase(member);
}

}  // namespace quorate::apiserver

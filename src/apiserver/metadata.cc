#include "apiserver/metadata.h"

#include <fmt/format.h>

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
  return json::text_at(object, "/metadata/deletionTimestamp").has_value();
}

std::vector<std::string> finalizers_of(const json::Value& object) {
  std::vector<std::string> finalizers;
  if (const auto list = json::array_at(object, "/metadata/finalizers"))
    for (const auto& finalizer : **list)
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
  const auto grace = json::integer_at(object, "/metadata/deletionGracePeriodSeconds");
  return grace ? std::optional(*grace) : std::nullopt;
}

void raise_generation(json::Value& object) {
  const auto generation = json::integer_at(object, "/metadata/generation");
  if (generation && *generation > 0) metadata_of(object)["generation"] = *generation + 1;
}

void copy_metadata(json::Value& to, const json::Value& from, std::string_view member) {
  const auto* value = json::find(from, fmt::format("/metadata/{}", member));
  if (value)
    metadata_of(to)[member] = *value;
  else
    metadata_of(to).stable_erase(member);
}

}  // namespace quorate::apiserver

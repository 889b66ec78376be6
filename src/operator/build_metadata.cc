#include "api/metadata.h"
#include "api/names.h"
#include "operator/build.h"
#include "operator/views.h"

// What people want to find on our objects, and how what is there becomes what is wanted.
namespace quorate::op {
namespace {

json::Object& object_in(json::Object& parent, std::string_view field) {
  auto& value = parent[field];
  if (!value.is_object()) value = json::Object();
  return value.get_object();
}

// Null for what was added earlier and is not wanted any more.
void drop_added(json::Object& metadata, std::string_view added) {
  const auto earlier = api::read_added(added);
  const auto drop = [&](std::string_view field, const std::vector<std::string>& keys) {
    for (const auto& key : keys)
      if (!object_in(metadata, field).contains(key)) object_in(metadata, field)[key] = nullptr;
  };
  drop("labels", earlier.labels);
  drop("annotations", earlier.annotations);
}

}  // namespace

void add_metadata(json::Value& object, const api::MetadataSpec& wanted) {
  if (wanted.empty()) return;
  auto& metadata = object_in(object.as_object(), "metadata");
  const auto add = [&](std::string_view field, const api::TextTable& table) {
    auto& there = object_in(metadata, field);
    for (const auto& [key, value] : table)
      if (!there.contains(key)) there[key] = value;
  };
  add("labels", wanted.labels);
  add("annotations", wanted.annotations);
  object_in(metadata, "annotations")[api::kAnnotationAdded] = api::added_text(wanted);
}

json::Object build_shared_patch(const json::Value& built, std::string_view added) {
  const auto& whole = built.as_object();
  const auto& from = whole.at("metadata").as_object();
  json::Object metadata{{"labels", from.at("labels")}, {"annotations", from.at("annotations")}};
  drop_added(metadata, added);
  auto& annotations = object_in(metadata, "annotations");
  if (!annotations.contains(api::kAnnotationAdded) && !added.empty())
    annotations[api::kAnnotationAdded] = nullptr;
  auto spec = whole.at("spec").as_object();
  for (auto field : optional_fields(json::text_or(built, "/kind", "")))
    if (!spec.contains(field)) spec[field] = nullptr;
  return {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

json::Object build_metadata_patch(const plan::SetMetadata& step) {
  json::Value object = json::Object();
  add_metadata(object, step.metadata);
  auto& metadata = object_in(object.as_object(), "metadata");
  drop_added(metadata, step.before);
  if (step.metadata.empty()) object_in(metadata, "annotations")[api::kAnnotationAdded] = nullptr;
  return std::move(object.as_object());
}

}  // namespace quorate::op

#include "apiserver/controller_objects.h"

#include "json/timestamp.h"

namespace quorate::apiserver {

json::Labels labels_at(const json::Value& object, std::string_view pointer) {
  json::Labels out;
  if (const auto found = json::object_at(object, pointer))
    for (const auto& [key, value] : **found)
      if (value.is_string()) out.emplace(key, value.get_string());
  return out;
}

bool selects(const json::Value& object, std::string_view selector_pointer,
             const json::Value& other) {
  const auto* given = json::find(object, selector_pointer);
  if (!given) return false;
  const auto selector = json::LabelSelector::from_json(*given);
  return selector && selector->matches(labels_at(other, "/metadata/labels"));
}

const json::Value* find_condition(const json::Value& object, std::string_view type) {
  const auto* list = json::find(object, "/status/conditions");
  if (!list || !list->is_array()) return nullptr;
  for (const auto& condition : list->get_array())
    if (json::text_or(condition, "/type", "") == type) return &condition;
  return nullptr;
}

bool has_condition(const json::Value& object, std::string_view type, std::string_view status) {
  const auto* condition = find_condition(object, type);
  return condition && json::text_or(*condition, "/status", "") == status;
}

void put_condition(json::Value& object, json::Object condition, WallTime now) {
  const auto type = condition["type"];
  auto& status = object.as_object()["status"];
  if (!status.is_object()) status = json::Object{};
  auto& list = status.get_object()["conditions"];
  if (!list.is_array()) list = json::Array{};
  for (auto& old : list.get_array()) {
    if (json::text_or(old, "/type", "") != type.as_string()) continue;
    const auto* since = json::find(old, "/lastTransitionTime");
    const bool same = json::text_or(old, "/status", "") == condition["status"].as_string();
    condition["lastTransitionTime"] = same && since ? *since : json::Value(json::render_time(now));
    old = std::move(condition);
    return;
  }
  condition["lastTransitionTime"] = json::render_time(now);
  list.get_array().push_back(std::move(condition));
}

bool is_pod_ready(const json::Value& pod) { return has_condition(pod, "Ready", "True"); }

bool is_pod_finished(const json::Value& pod) {
  const auto phase = json::text_or(pod, "/status/phase", "");
  return phase == "Succeeded" || phase == "Failed";
}

std::string_view node_of(const json::Value& pod) {
  return json::text_or(pod, "/spec/nodeName", "");
}

std::string_view controller_uid(const json::Value& object) {
  const auto* owners = json::find(object, "/metadata/ownerReferences");
  if (owners && owners->is_array())
    for (const auto& owner : owners->get_array())
      if (json::flag_at(owner, "/controller").value_or(false))
        return json::text_or(owner, "/uid", "");
  return "";
}

json::Value make_controller_reference(const json::Value& owner) {
  return {{"apiVersion", json::text_or(owner, "/apiVersion", "")},
          {"kind", json::text_or(owner, "/kind", "")},
          {"name", json::text_or(owner, "/metadata/name", "")},
          {"uid", json::text_or(owner, "/metadata/uid", "")},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

std::optional<WallTime> time_at(const json::Value& object, std::string_view pointer) {
  const auto parsed = json::parse_time(json::text_or(object, pointer, ""));
  if (!parsed) return std::nullopt;
  return *parsed;
}

}  // namespace quorate::apiserver

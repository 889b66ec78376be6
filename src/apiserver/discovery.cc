#include "apiserver/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apiserver/openapi.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kMinor = "34";

json::Array texts(const std::vector<std::string>& list) {
  json::Array out;
  for (const auto& text : list) out.emplace_back(text);
  return out;
}

json::Object group_version(const Kind& kind) {
  return {{"groupVersion", kind.api_version()}, {"version", kind.version}};
}

// Groups in the order in which their first kind was added; the core group is not among them.
std::vector<std::string> group_names(const Registry& registry) {
  std::vector<std::string> names;
  for (const auto& kind : registry.kinds())
    if (!kind->group.empty() && std::find(names.begin(), names.end(), kind->group) == names.end())
      names.push_back(kind->group);
  return names;
}

std::optional<json::Object> group_document(const Registry& registry, const std::string& group) {
  json::Array versions;
  for (const auto& kind : registry.kinds()) {
    if (kind->group != group) continue;
    json::Value version = group_version(*kind);
    if (std::find(versions.begin(), versions.end(), version) == versions.end())
      versions.push_back(std::move(version));
  }
  if (versions.empty()) return std::nullopt;
  auto preferred = versions.front();
  return json::Object{{"name", group},
                      {"versions", std::move(versions)},
                      {"preferredVersion", std::move(preferred)}};
}

json::Object resource_entry(const Kind& kind) {
  std::vector<std::string> verbs = {"create", "delete", "deletecollection", "get",
                                    "list",   "patch",  "update",           "watch"};
  if (kind.custom)  // in the order in which these are told
    verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  if (!kind.deletes_collections()) std::erase(verbs, "deletecollection");
  json::Object entry{{"name", kind.plural},
                     {"singularName", kind.singular},
                     {"namespaced", kind.namespaced},
                     {"kind", kind.kind},
                     {"verbs", texts(verbs)}};
  if (!kind.short_names.empty()) entry["shortNames"] = texts(kind.short_names);
  if (!kind.categories.empty()) entry["categories"] = texts(kind.categories);
  return entry;
}

json::Object subresource_entry(const Kind& kind, std::string_view name) {
  json::Object entry{{"name", fmt::format("{}/{}", kind.plural, name)},
                     {"singularName", ""},
                     {"namespaced", kind.namespaced}};
  json::Array verbs{"get", "patch", "update"};
  if (name == "scale") {
    entry["group"] = "autoscaling";
    entry["version"] = "v1";
    entry["kind"] = "Scale";
  } else if (name == "eviction") {
    entry["group"] = "policy";
    entry["version"] = "v1";
    entry["kind"] = "Eviction";
    verbs = {"create"};
  } else if (name == "binding") {
    entry["kind"] = "Binding";
    verbs = {"create"};
  } else {
    entry["kind"] = kind.kind;
    if (name == "finalize") verbs = {"update"};
  }
  entry["verbs"] = std::move(verbs);
  return entry;
}

std::optional<json::Value> resource_list(const Registry& registry, const std::string& group,
                                         const std::string& version) {
  json::Array resources;
  std::string group_version;
  for (const auto& kind : registry.kinds()) {
    if (kind->group != group || kind->version != version) continue;
    group_version = kind->api_version();
    resources.push_back(resource_entry(*kind));
    if (kind->has_status) resources.push_back(subresource_entry(*kind, "status"));
    if (kind->scale) resources.push_back(subresource_entry(*kind, "scale"));
    for (const auto& name : kind->subresources) resources.push_back(subresource_entry(*kind, name));
  }
  if (resources.empty()) return std::nullopt;
  json::Object list{{"kind", "APIResourceList"}};
  if (!group.empty()) list["apiVersion"] = "v1";
  list["groupVersion"] = group_version;
  list["resources"] = std::move(resources);
  return list;
}

json::Value group_list(const Registry& registry) {
  json::Array groups;
  for (const auto& name : group_names(registry)) groups.push_back(*group_document(registry, name));
  return json::Object{
      {"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

}  // namespace

std::optional<json::Value> discover(const Registry& registry,
                                    const std::vector<std::string>& parts) {
  if (parts[0] == "version")
    return json::Object{{"major", "1"}, {"minor", kMinor}, {"gitVersion", kKubernetesVersion}};
  if (parts[0] == "openapi")
    return parts.size() >= 2 && parts[1] == "v3"
               ? find_openapi(registry, {parts.begin() + 2, parts.end()})
               : std::nullopt;
  if (parts[0] == "api" && parts.size() == 1)
    return json::Object{{"kind", "APIVersions"}, {"versions", json::Array{"v1"}}};
  if (parts[0] == "api") return resource_list(registry, "", parts[1]);
  if (parts.size() == 1) return group_list(registry);
  if (parts.size() == 3) return resource_list(registry, parts[1], parts[2]);
  auto group = group_document(registry, parts[1]);
  if (!group) return std::nullopt;
  (*group)["kind"] = "APIGroup";
  (*group)["apiVersion"] = "v1";
  return *group;
}

}  // namespace quorate::apiserver

// The paths of a kind in OpenAPI: which methods there are, with what they take and give.

#include <fmt/format.h>

#include <utility>

#include "apiserver/openapi_parts.h"

namespace quorate::apiserver {

namespace {

json::Object parameter(std::string_view in, std::string_view name, std::string_view type,
                       std::string_view text = "") {
  json::Object out{
      {"name", name}, {"in", in}, {"schema", json::Object{{"type", type}, {"uniqueItems", true}}}};
  if (in == "path") out["required"] = true;
  if (!text.empty()) out["description"] = text;
  return out;
}

json::Array write_parameters() {
  return {parameter("query", "dryRun", "string", "All: everything but the storing."),
          parameter("query", "fieldManager", "string", "Who owns the fields that are written."),
          parameter("query", "fieldValidation", "string",
                    "What happens to unknown fields: Ignore, Warn or Strict.")};
}

json::Array list_parameters() {
  json::Array out{parameter("query", "allowWatchBookmarks", "boolean"),
                  parameter("query", "continue", "string"),
                  parameter("query", "fieldSelector", "string"),
                  parameter("query", "labelSelector", "string"),
                  parameter("query", "limit", "integer"),
                  parameter("query", "resourceVersion", "string"),
                  parameter("query", "resourceVersionMatch", "string"),
                  parameter("query", "sendInitialEvents", "boolean"),
                  parameter("query", "timeoutSeconds", "integer"),
                  parameter("query", "watch", "boolean")};
  return out;
}

json::Array delete_parameters() {
  return {parameter("query", "dryRun", "string"),
          parameter("query", "gracePeriodSeconds", "integer"),
          parameter("query", "propagationPolicy", "string")};
}

// Of the deletion of many. Those of custom kinds say how in their body alone.
json::Array selection_parameters(const Kind& kind) {
  auto out = kind.custom ? json::Array() : delete_parameters();
  for (const auto* name : {"fieldSelector", "labelSelector"})
    out.push_back(parameter("query", name, "string"));
  return out;
}

json::Object content(std::initializer_list<std::string_view> types, const json::Value& schema) {
  json::Object out;
  for (const auto type : types) out[type] = json::Object{{"schema", schema}};
  return json::Object{{"content", std::move(out)}};
}

// What is behind one path: an object of this schema, called by these names.
struct Resource {
  json::Value schema;
  json::Object names;  // group, version, kind
  bool custom = false;
};

json::Object operation(const Resource& resource, std::string_view action, json::Array parameters,
                       const json::Value& gives) {
  auto response = content({"application/json"}, gives);
  response["description"] = "OK";
  return {{"parameters", std::move(parameters)},
          {"responses", json::Object{{"200", std::move(response)}}},
          {"x-kubernetes-action", action},
          {"x-kubernetes-group-version-kind", resource.names}};
}

json::Object read_operation(const Resource& resource) {
  return operation(resource, "get", {}, resource.schema);
}

json::Object write_operation(const Resource& resource, std::string_view action) {
  auto out = operation(resource, action, write_parameters(), resource.schema);
  out["requestBody"] = content({"application/json", "application/yaml"}, resource.schema);
  return out;
}

json::Object patch_operation(const Resource& resource, Components& components) {
  auto parameters = write_parameters();
  parameters.push_back(
      parameter("query", "force", "boolean", "An apply takes fields from other managers."));
  auto out = operation(resource, "patch", std::move(parameters), resource.schema);
  const auto patch = components.of_type("Patch");
  auto body = content({"application/apply-patch+yaml", "application/json-patch+json",
                       "application/merge-patch+json"},
                      patch);
  if (!resource.custom)
    body["content"].as_object()["application/strategic-merge-patch+json"] =
        json::Object{{"schema", patch}};
  out["requestBody"] = std::move(body);
  return out;
}

json::Object delete_operation(const Resource& resource, std::string_view action,
                              json::Array parameters, Components& components) {
  auto out = operation(resource, action, std::move(parameters), resource.schema);
  out["requestBody"] = content({"application/json"}, components.of_type("DeleteOptions"));
  return out;
}

// How the subresource of a kind is read and written.
json::Object subresource_item(const Kind& kind, const Resource& whole, std::string_view name,
                              Components& components) {
  const auto other = [&](std::string_view group, std::string_view type) {
    const json::Object names{{"group", group}, {"version", "v1"}, {"kind", type}};
    return Resource{components.of_type(type, &names), names, kind.custom};
  };
  if (name == "eviction") return {{"post", write_operation(other("policy", "Eviction"), "post")}};
  if (name == "binding") return {{"post", write_operation(other("", "Binding"), "post")}};
  if (name == "finalize") return {{"put", write_operation(whole, "put")}};
  auto resource = name == "scale" ? other("autoscaling", "Scale") : whole;
  if (kind.custom) resource.names = whole.names;  // also of its scale
  return {{"get", read_operation(resource)},
          {"put", write_operation(resource, "put")},
          {"patch", patch_operation(resource, components)}};
}

}  // namespace

json::Object group_version_kind(const Kind& kind) {
  return {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
}

void add_paths(json::Object& paths, const Kind& kind, Components& components) {
  const Resource whole{components.of_kind(kind), group_version_kind(kind), kind.custom};
  const auto list = components.of_list(kind);
  const auto root = kind.group.empty() ? fmt::format("/api/{}", kind.version)
                                       : fmt::format("/apis/{}/{}", kind.group, kind.version);
  const json::Object reads_all{{"get", operation(whole, "list", list_parameters(), list)}};
  const auto everywhere = fmt::format("{}/{}", root, kind.plural);
  const auto collection = kind.namespaced
                              ? fmt::format("{}/namespaces/{{namespace}}/{}", root, kind.plural)
                              : everywhere;
  json::Array parameters;
  if (kind.namespaced) {
    paths[everywhere] = reads_all;
    parameters.push_back(parameter("path", "namespace", "string"));
  }
  const auto add = [&](const std::string& path, json::Object item) {
    if (!parameters.empty()) item["parameters"] = parameters;
    paths[path] = std::move(item);
  };
  auto many = reads_all;
  many["post"] = write_operation(whole, "post");
  if (kind.deletes_collections())
    many["delete"] =
        delete_operation(whole, "deletecollection", selection_parameters(kind), components);
  add(collection, std::move(many));

  parameters.push_back(parameter("path", "name", "string"));
  const auto one = collection + "/{name}";
  add(one, {{"get", read_operation(whole)},
            {"put", write_operation(whole, "put")},
            {"patch", patch_operation(whole, components)},
            {"delete", delete_operation(whole, "delete", delete_parameters(), components)}});
  std::vector<std::string> subresources = kind.subresources;
  if (kind.has_status) subresources.emplace_back("status");
  if (kind.scale) subresources.emplace_back("scale");
  for (const auto& name : subresources)
    add(fmt::format("{}/{}", one, name), subresource_item(kind, whole, name, components));
}

}  // namespace quorate::apiserver

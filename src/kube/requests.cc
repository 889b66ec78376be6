#include "kube/requests.h"

namespace quorate::kube {
namespace {

constexpr std::string_view kJsonType = "application/json";

net::Request with_body(std::string_view method, std::string path, std::string_view content_type,
                       const json::Value& body) {
  net::Request request;
  request.method = method;
  request.path = std::move(path);
  request.headers = {{"accept", std::string(kJsonType)},
                     {"content-type", std::string(content_type)}};
  request.body = json::render(body);
  return request;
}

Query write_query(const WriteOptions& options, const std::string& field_manager) {
  Query query;
  query.add("fieldManager", field_manager)
      .add("fieldValidation", options.strict ? "Strict" : "Warn")
      .add_if(options.dry_run, "dryRun", "All");
  return query;
}

std::string_view content_type(PatchKind kind) {
  switch (kind) {
    case PatchKind::kMerge:
      return "application/merge-patch+json";
    case PatchKind::kJson:
      return "application/json-patch+json";
    case PatchKind::kStrategic:
      return "application/strategic-merge-patch+json";
  }
  return "";
}

std::string_view name(Propagation propagation) {
  switch (propagation) {
    case Propagation::kBackground:
      return "Background";
    case Propagation::kForeground:
      return "Foreground";
    case Propagation::kOrphan:
      return "Orphan";
  }
  return "";
}

// A server that cannot give metadata alone gives whole objects, which read just as well.
std::string accept(const ListOptions& what, std::string_view partial_kind) {
  if (!what.metadata_only) return std::string(kJsonType);
  return fmt::format("application/json;as={};g=meta.k8s.io;v=v1,application/json", partial_kind);
}

Query selection(const ListOptions& what) {
  Query query;
  query.add_if(!what.label_selector.empty(), "labelSelector", what.label_selector)
      .add_if(!what.field_selector.empty(), "fieldSelector", what.field_selector);
  return query;
}

json::Object delete_options(const DeleteOptions& options) {
  json::Object out{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  json::Object preconditions;
  if (options.uid) preconditions["uid"] = options.uid->value();
  if (options.resource_version)
    preconditions["resourceVersion"] = options.resource_version->value();
  if (!preconditions.empty()) out["preconditions"] = std::move(preconditions);
  if (options.grace) out["gracePeriodSeconds"] = options.grace->count();
  if (options.propagation) out["propagationPolicy"] = name(*options.propagation);
  if (options.dry_run) out["dryRun"] = json::Array{"All"};
  return out;
}

}  // namespace

std::string_view name(Part part) {
  switch (part) {
    case Part::kWhole:
      return "";
    case Part::kStatus:
      return "status";
    case Part::kScale:
      return "scale";
  }
  return "";
}

net::Request make_get_request(Resource resource, const ObjectKey& key, Part part) {
  net::Request request;
  request.path = resource.path(key, name(part));
  request.headers = {{"accept", std::string(kJsonType)}};
  return request;
}

// No resourceVersion is named: the answer is at least as new as everything acknowledged before the
// request, so a list never takes us back in time.
net::Request make_page_request(Resource resource, const PageRequest& page) {
  Query query = selection(page.what);
  query.add_if(page.what.page_size > 0, "limit", std::to_string(page.what.page_size))
      .add_if(!page.continue_token.empty(), "continue", page.continue_token);
  net::Request request;
  request.path = resource.path(page.what.ns) + query.text();
  request.headers = {{"accept", accept(page.what, "PartialObjectMetadataList")}};
  return request;
}

net::Request make_watch_request(Resource resource, const WatchRequest& watch) {
  Query query = selection(watch.what);
  query.add("watch", "1")
      .add("allowWatchBookmarks", "true")
      .add("timeoutSeconds", std::to_string(watch.timeout.count()))
      .add_if(!watch.from.value().empty(), "resourceVersion", watch.from.value())
      .add_if(watch.initial_events, "sendInitialEvents", "true")
      .add_if(watch.initial_events, "resourceVersionMatch", "NotOlderThan");
  net::Request request;
  request.path = resource.path(watch.what.ns) + query.text();
  request.headers = {{"accept", accept(watch.what, "PartialObjectMetadata")}};
  return request;
}

net::Request make_create_request(Resource resource, const std::string& ns,
                                 const json::Value& object, const WriteOptions& options,
                                 const std::string& field_manager) {
  auto path = resource.path(ns) + write_query(options, field_manager).text();
  return with_body("POST", std::move(path), kJsonType, object);
}

net::Request make_update_request(Resource resource, const ObjectKey& key, const json::Value& object,
                                 const WriteOptions& options, const std::string& field_manager) {
  auto path = resource.path(key, name(options.part)) + write_query(options, field_manager).text();
  return with_body("PUT", std::move(path), kJsonType, object);
}

net::Request make_patch_request(Resource resource, const ObjectKey& key, PatchKind kind,
                                const json::Value& patch, const WriteOptions& options,
                                const std::string& field_manager) {
  auto path = resource.path(key, name(options.part)) + write_query(options, field_manager).text();
  return with_body("PATCH", std::move(path), content_type(kind), patch);
}

net::Request make_apply_request(Resource resource, const ObjectKey& key, const json::Value& object,
                                const ApplyOptions& options, const std::string& field_manager) {
  Query query;
  query.add("fieldManager", options.field_manager.empty() ? field_manager : options.field_manager)
      .add("fieldValidation", "Strict")
      .add_if(options.force, "force", "true")
      .add_if(options.dry_run, "dryRun", "All");
  // JSON is YAML.
  return with_body("PATCH", resource.path(key, name(options.part)) + query.text(),
                   "application/apply-patch+yaml", object);
}

net::Request make_delete_request(Resource resource, const ObjectKey& key,
                                 const DeleteOptions& options) {
  return with_body("DELETE", resource.path(key), kJsonType, delete_options(options));
}

net::Request make_evict_request(const ObjectKey& pod, const DeleteOptions& options) {
  json::Object eviction{{"apiVersion", "policy/v1"},
                        {"kind", "Eviction"},
                        {"metadata", {{"name", pod.name}, {"namespace", pod.ns}}},
                        {"deleteOptions", delete_options(options)}};
  return with_body("POST", kPods.path(pod, "eviction"), kJsonType, eviction);
}

}  // namespace quorate::kube

#include "kube/client.h"

#include "kube/requests.h"

namespace quorate::kube {
namespace {

std::string describe(std::string_view verb, Resource resource, const ObjectKey& key,
                     Part part = Part::kWhole) {
  const auto where = part == Part::kWhole ? "" : fmt::format("/{}", name(part));
  const auto whom = resource.namespaced ? key.text() : key.name;
  return fmt::format("{} {}{} {}", verb, resource.text(), where, whom);
}

void read(json::Reader& in, ServedResource& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "name")
      out.plural = value.text();
    else if (key == "kind")
      out.kind = value.text();
    else if (key == "namespaced")
      out.namespaced = value.flag();
    else if (key == "verbs")
      value.items([&](json::Reader& verb) { out.verbs.emplace_back(verb.text()); });
  });
}

struct ServedResources {
  std::vector<ServedResource> all;
};
void read(json::Reader& in, ServedResources& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "resources")
      value.items([&](json::Reader& item) { read(item, out.all.emplace_back()); });
  });
}

struct ServerVersion {
  std::string text;
};
void read(json::Reader& in, ServerVersion& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "gitVersion") out.text = value.text();
  });
}

net::Request make_get(std::string path) {
  net::Request request;
  request.path = std::move(path);
  request.headers = {{"accept", "application/json"}};
  return request;
}

}  // namespace

Client::Client(rt::Runtime runtime, Api& api, ClientOptions options)
    : runtime_(runtime),
      api_(api),
      options_(std::move(options)),
      budget_(runtime, options_.limit) {}

Task<Result<Object>> Client::get(Resource resource, ObjectKey key, rt::Deadline deadline,
                                 Part part) {
  auto request = make_get_request(resource, key, part);
  auto operation = describe("get", resource, key, part);
  co_return co_await call_for_object(std::move(request), Effect::kRead, deadline,
                                     std::move(operation));
}

Task<Result<ResourceVersion>> Client::list(Resource resource, ListOptions what,
                                           Duration page_timeout, EachItem each) {
  PageRequest page{std::move(what), ""};
  for (;;) {
    const auto deadline = runtime_.in(page_timeout);
    CO_TRY(auto end, co_await list_page(resource, page, deadline, each));
    if (end.continue_token.empty()) co_return ResourceVersion(std::move(end.resource_version));
    page.continue_token = std::move(end.continue_token);
  }
}

Task<Result<std::unique_ptr<net::ResponseStream>>> Client::watch(Resource resource,
                                                                 WatchRequest request,
                                                                 rt::Deadline deadline) {
  auto opened = co_await open(make_watch_request(resource, request), deadline);
  co_return in("watch " + resource.text(), std::move(opened));
}

Task<Result<Object>> Client::create(Resource resource, std::string ns, json::Value object,
                                    rt::Deadline deadline, WriteOptions options) {
  const ObjectKey key{ns, std::string(json::text_or(object, "/metadata/name", "?"))};
  auto request = make_create_request(resource, ns, object, options, options_.field_manager);
  auto operation = describe("create", resource, key);
  co_return co_await call_for_object(std::move(request), Effect::kWrite, deadline,
                                     std::move(operation));
}

Task<Result<Object>> Client::update(Resource resource, ObjectKey key, json::Value object,
                                    rt::Deadline deadline, WriteOptions options) {
  auto request = make_update_request(resource, key, object, options, options_.field_manager);
  auto operation = describe("update", resource, key, options.part);
  co_return co_await call_for_object(std::move(request), Effect::kWrite, deadline,
                                     std::move(operation));
}

Task<Result<Object>> Client::patch(Resource resource, ObjectKey key, PatchKind kind,
                                   json::Value patch, rt::Deadline deadline, WriteOptions options) {
  auto request = make_patch_request(resource, key, kind, patch, options, options_.field_manager);
  auto operation = describe("patch", resource, key, options.part);
  co_return co_await call_for_object(std::move(request), Effect::kWrite, deadline,
                                     std::move(operation));
}

Task<Result<Object>> Client::apply(Resource resource, ObjectKey key, json::Value object,
                                   rt::Deadline deadline, ApplyOptions options) {
  auto request = make_apply_request(resource, key, object, options, options_.field_manager);
  auto operation = describe("apply", resource, key, options.part);
  co_return co_await call_for_object(std::move(request), Effect::kWrite, deadline,
                                     std::move(operation));
}

Task<Result<void>> Client::remove(Resource resource, ObjectKey key, rt::Deadline deadline,
                                  DeleteOptions options) {
  auto request = make_delete_request(resource, key, options);
  auto answer = co_await call(std::move(request), Effect::kWrite, deadline);
  if (!answer) co_return fail(std::move(answer).error().in(describe("delete", resource, key)));
  co_return Result<void>();
}

Task<Result<void>> Client::evict(ObjectKey pod, rt::Deadline deadline, DeleteOptions options) {
  auto request = make_evict_request(pod, options);
  auto answer = co_await call(std::move(request), Effect::kWrite, deadline);
  if (!answer) co_return fail(std::move(answer).error().in(describe("evict", kPods, pod)));
  co_return Result<void>();
}

Task<Result<std::vector<ServedResource>>> Client::served(std::string group, std::string version,
                                                         rt::Deadline deadline) {
  const Resource any{group, version, "", "", false};
  const auto operation = "discover " + any.api_version();
  auto request = make_get(any.root());
  CO_TRY(auto object,
         co_await call_for_object(std::move(request), Effect::kRead, deadline, operation));
  auto found = in(operation, object.as<ServedResources>());
  CO_TRY(auto resources, std::move(found));
  co_return std::move(resources.all);
}

Task<Result<bool>> Client::serves(Resource resource, rt::Deadline deadline) {
  auto all = co_await served(std::string(resource.group), std::string(resource.version), deadline);
  if (!all && all.error() == Code::kNotFound) co_return false;
  if (!all) co_return fail(std::move(all).error());
  for (const auto& one : *all)
    if (one.plural == resource.plural) co_return true;
  co_return false;
}

Task<Result<std::string>> Client::server_version(rt::Deadline deadline) {
  const std::string operation = "get the server's version";
  auto request = make_get("/version");
  CO_TRY(auto object,
         co_await call_for_object(std::move(request), Effect::kRead, deadline, operation));
  auto found = in(operation, object.as<ServerVersion>());
  CO_TRY(auto version, std::move(found));
  co_return std::move(version.text);
}

Task<Result<net::Response>> Client::raw(net::Request request, rt::Deadline deadline) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const auto operation = request.method + " " + request.path;
  auto answer = co_await call(std::move(request), reads ? Effect::kRead : Effect::kWrite, deadline);
  co_return in(operation, std::move(answer));
}

}  // namespace quorate::kube

#include "apiserver/server.h"

#include <fmt/format.h>

#include <utility>

#include "apiserver/discovery.h"
#include "apiserver/form.h"
#include "apiserver/request_options.h"
#include "apiserver/reviews.h"
#include "apiserver/router.h"
#include "apiserver/table.h"
#include "apiserver/verbs.h"
#include "apiserver/watch.h"
#include "base/check.h"
#include "json/yaml.h"

namespace quorate::apiserver {

namespace {

constexpr const char* kJson = "application/json";

Answer make_answer(int status, std::string body, const std::vector<std::string>& warnings = {}) {
  Answer answer;
  answer.status = status;
  answer.headers = {{"content-type", kJson}};
  for (const auto& warning : warnings)
    answer.headers.emplace_back("warning", fmt::format("299 - {}", quoted(warning)));
  answer.body = std::move(body);
  return answer;
}

Answer make_answer(int status, const json::Value& body,
                   const std::vector<std::string>& warnings = {}) {
  return make_answer(status, json::render(body) + "\n", warnings);
}

Answer make_answer(const Refusal& refusal) {
  auto answer = make_answer(refusal.code, refusal.status(), refusal.warnings);
  if (refusal.retry_after_seconds)
    answer.headers.emplace_back("retry-after", fmt::to_string(*refusal.retry_after_seconds));
  return answer;
}

}  // namespace

struct Server::State {
  State(rt::Runtime runtime_, Options options_)
      : runtime(runtime_),
        settings(std::move(options_)),
        storage(runtime, settings.history),
        verbs(runtime, registry, storage, {.service_cidr = settings.service_cidr}) {}

  Outcome<Answer> serve(const Request& request);
  Outcome<Answer> serve_collection(const Route& route, const Request& request);
  Outcome<Answer> serve_object(const Route& route, const Request& request);
  Outcome<Answer> serve_subresource(const Route& route, const Request& request);
  Outcome<Answer> serve_scale(const Route& route, const Request& request);
  Outcome<Answer> write(const Route& route, const Request& request);
  Outcome<Answer> answer_with(const Kind& kind, const Request& request, const Written& written);
  Outcome<Answer> answer_with_scale(const Kind& kind, const Request& request,
                                    const json::Value& scale);
  Answer discovery(const Route& route) const;

  rt::Runtime runtime;
  Options settings;
  Registry registry;
  Storage storage;
  Verbs verbs;
};

Server::Server(rt::Runtime runtime, Options options)
    : state_(std::make_unique<State>(runtime, std::move(options))) {
  // Those that are always there.
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    const auto made =
        state_->verbs.create(*state_->registry.built_in().namespaces, "",
                             {{"metadata", {{"name", name}}}}, {.manager = "kube-apiserver"});
    CHECK(made.has_value(), "namespace {}: {}", name, made.error().message);
  }
}

Server::~Server() = default;

Result<void> Server::install_crd(std::string_view text) {
  // JSON is YAML, too, and is read much faster as what it is.
  if (auto document = json::parse(text)) return state_->registry.add_crd(*document);
  TRY(const auto documents, json::parse_yaml_stream(text));
  for (const auto& document : documents) TRY(state_->registry.add_crd(document.value));
  return {};
}

Verbs& Server::verbs() { return state_->verbs; }
Storage& Server::storage() { return state_->storage; }
const Registry& Server::registry() const { return state_->registry; }

Answer Server::serve(const Request& request) {
  auto answer = state_->serve(request);
  return answer ? std::move(*answer) : make_answer(answer.error());
}

Outcome<Answer> Server::State::serve(const Request& request) {
  if (const auto review = answer_review(request)) {
    TRY(const auto& answered, *review);
    return make_answer(201, answered);
  }
  TRY(const auto route, find_route(registry, request.path));
  switch (route.place) {
    case Route::Place::kDiscovery:
      return discovery(route);
    case Route::Place::kCollection:
      return serve_collection(route, request);
    case Route::Place::kObject:
      return serve_object(route, request);
    case Route::Place::kSubresource:
      return serve_subresource(route, request);
    case Route::Place::kNothing:
      break;
  }
  auto answer = make_answer(404, std::string("404 page not found\n"));
  answer.headers = {{"content-type", "text/plain; charset=utf-8"}};
  return answer;
}

Answer Server::State::discovery(const Route& route) const {
  if (route.parts[0] == "healthz" || route.parts[0] == "readyz" || route.parts[0] == "livez") {
    auto answer = make_answer(200, std::string("ok"));
    answer.headers = {{"content-type", "text/plain; charset=utf-8"}};
    return answer;
  }
  const auto document = discover(registry, route.parts);
  if (document) return make_answer(200, *document);
  auto answer = make_answer(404, std::string("404 page not found\n"));
  answer.headers = {{"content-type", "text/plain; charset=utf-8"}};
  return answer;
}

Outcome<Answer> Server::State::serve_collection(const Route& route, const Request& request) {
  const Kind& kind = *route.kind;
  if (request.method == "GET") {
    TRY(auto list, parse_list_request(kind, route.ns, request.query));
    TRY(list.form, parse_form(request));
    if (!list.watch) {
      TRY(auto text, render_list(storage, kind, list, runtime.clock->wall()));
      TRY(check_form_of_many(kind, list.form));
      return make_answer(200, std::move(text));
    }
    TRY(auto watch, open_watch(runtime, storage, kind, list, settings));
    auto answer = make_answer(200, std::string());
    answer.watch = std::move(watch);
    return answer;
  }
  if (request.method == "POST" && (!route.ns.empty() || !kind.namespaced)) {
    TRY(auto body, parse_body(request));
    TRY(const auto options, parse_write_options(request));
    TRY(const auto written, verbs.create(kind, route.ns, std::move(body), options));
    return answer_with(kind, request, written);
  }
  if (request.method == "DELETE" && (!route.ns.empty() || !kind.namespaced)) {
    TRY(const auto options, parse_delete_options(request));
    TRY(const auto list, parse_list_request(kind, route.ns, request.query));
    TRY(const auto removed, verbs.remove_all(kind, list.selection, options));
    return make_answer(200, removed.answer, removed.warnings);
  }
  return fail(method_not_allowed());
}

// What was written or read, in the form that was asked for.
Outcome<Answer> Server::State::answer_with(const Kind& kind, const Request& request,
                                           const Written& written) {
  TRY(const auto form, parse_form(request));
  TRY(check_form_of_one(kind, form));
  Renderer renderer(kind, form);
  return make_answer(written.created ? 201 : 200,
                     renderer.object(*written.object, runtime.clock->wall()) + "\n",
                     written.warnings);
}

Outcome<Answer> Server::State::answer_with_scale(const Kind& kind, const Request& request,
                                                 const json::Value& scale) {
  TRY(const auto form, parse_form(request));
  Renderer renderer(kind, form, &scale_printer());
  return make_answer(200, renderer.object(scale, runtime.clock->wall()) + "\n");
}

Outcome<Answer> Server::State::serve_object(const Route& route, const Request& request) {
  const ObjectKey key{route.ns, route.name};
  if (request.method == "GET") {
    const auto record = storage.find(*route.kind, key);
    if (!record) return fail(not_found(route.kind->resource(), key.name));
    TRY(const auto form, parse_form(request));
    TRY(check_form_of_one(*route.kind, form));
    Renderer renderer(*route.kind, form);
    return make_answer(200, renderer.object(*record, runtime.clock->wall()) + "\n");
  }
  // The real server does not look at the name in the path of a custom object that is posted.
  if (request.method == "POST" && route.kind->custom) return serve_collection(route, request);
  if (request.method == "DELETE") {
    TRY(const auto options, parse_delete_options(request));
    TRY(const auto deleted, verbs.remove(*route.kind, key, options));
    const bool waits = !deleted.gone && options.old_background;
    return make_answer(waits ? 202 : 200, deleted.answer, deleted.warnings);
  }
  return write(route, request);
}

// PUT and PATCH, of an object or of a part of it that has the object's own form.
Outcome<Answer> Server::State::write(const Route& route, const Request& request) {
  const ObjectKey key{route.ns, route.name};
  if (request.method == "PUT") {
    TRY(auto body, parse_body(request));
    TRY(auto options, parse_write_options(request));
    options.subresource = route.subresource;
    TRY(const auto written, verbs.update(*route.kind, key, std::move(body), options));
    return answer_with(*route.kind, request, written);
  }
  if (request.method == "PATCH") {
    TRY(const auto type, parse_patch_type(*route.kind, request));
    TRY(const auto body, parse_patch(type, request));
    TRY(auto options, parse_write_options(request));
    options.subresource = route.subresource;
    TRY(const auto written, verbs.patch(*route.kind, key, type, body, options));
    return answer_with(*route.kind, request, written);
  }
  return fail(method_not_allowed());
}

Outcome<Answer> Server::State::serve_subresource(const Route& route, const Request& request) {
  const ObjectKey key{route.ns, route.name};
  if (route.subresource == "scale") return serve_scale(route, request);
  if (route.subresource == "eviction" || route.subresource == "binding") {
    if (request.method != "POST") return fail(method_not_allowed());
    TRY(auto body, parse_body(request));
    TRY(const auto options, parse_write_options(request));
    if (route.subresource == "binding") {
      TRY(const auto bound, verbs.bind(key, body, options));
      return make_answer(201, bound);
    }
    TRY(auto deletion, parse_eviction(body, key.name));
    deletion.dry_run = deletion.dry_run || options.dry_run;
    TRY(const auto evicted, verbs.evict(key, deletion));
    return make_answer(201, evicted);
  }
  if (request.method == "GET" && route.subresource == "status") {
    TRY(auto object, verbs.get(*route.kind, key));
    return answer_with(*route.kind, request, {std::move(object), false, {}});
  }
  if (route.subresource == "finalize" && request.method != "PUT") return fail(method_not_allowed());
  return write(route, request);
}

Outcome<Answer> Server::State::serve_scale(const Route& route, const Request& request) {
  const ObjectKey key{route.ns, route.name};
  if (request.method == "GET") {
    TRY(const auto scale, verbs.get_scale(*route.kind, key));
    return answer_with_scale(*route.kind, request, scale);
  }
  TRY(const auto options, parse_write_options(request));
  if (request.method == "PUT") {
    TRY(auto body, parse_body(request));
    TRY(const auto scale, verbs.update_scale(*route.kind, key, std::move(body), options));
    return answer_with_scale(*route.kind, request, scale);
  }
  if (request.method == "PATCH") {
    TRY(const auto type, parse_patch_type(*route.kind, request));
    TRY(const auto body, parse_patch(type, request));
    TRY(const auto scale, verbs.patch_scale(*route.kind, key, type, body, options));
    return answer_with_scale(*route.kind, request, scale);
  }
  return fail(method_not_allowed());
}

}  // namespace quorate::apiserver

#include "conform_kube_settle.h"

#include <fmt/format.h>

#include <algorithm>

#include "conform_kube_mask.h"
#include "conform_kube_run.h"

namespace quorate::conform {

namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 1s;  // between two looks
constexpr auto kPatience = 300s;

constexpr std::pair<const char*, const char*> kCollections[] = {
    {"pods", "/api/v1"},
    {"configmaps", "/api/v1"},
    {"services", "/api/v1"},
    {"persistentvolumeclaims", "/api/v1"},
    {"endpointslices", "/apis/discovery.k8s.io/v1"},
    {"poddisruptionbudgets", "/apis/policy/v1"},
    {"jobs", "/apis/batch/v1"},
    {"etcdclusters", "/apis/quorate.io/v1alpha1"}};

std::string with_namespace(std::string text, const std::string& ns) {
  for (auto at = text.find("$NS"); at != std::string::npos; at = text.find("$NS"))
    text.replace(at, 3, ns);
  return text;
}

void sort_by_text(json::Array& array) {
  std::sort(array.begin(), array.end(), [](const json::Value& a, const json::Value& b) {
    return json::render_sorted(a) < json::render_sorted(b);
  });
}

// What is compared of an object at rest.
json::Value scrub(json::Value object, const std::string& ns) {
  auto& metadata = object.at("metadata").as_object();
  for (const char* member : {"resourceVersion", "managedFields", "selfLink"})
    metadata.erase(member);
  if (const auto* base = metadata.if_contains("generateName"))
    metadata["name"] = json::Value(fmt::format("{}*", std::string_view(base->as_string())));
  // How often a slice was written on the way, and for which change, is nobody's business.
  if (json::find(object, "/addressType")) {
    metadata.erase("generation");
    json::remove(object, "/metadata/annotations/endpoints.kubernetes.io~1last-change-trigger-time");
    // Their order is that of hashes.
    for (const char* list : {"endpoints", "ports"})
      if (auto* found = json::find(object, fmt::format("/{}", list)); found && found->is_array())
        sort_by_text(found->get_array());
    if (const auto left = json::object_at(object, "/metadata/annotations");
        left && (*left)->empty())
      metadata.erase("annotations");
  }
  auto text = json::render(blank(std::move(object)));
  for (auto at = text.find(ns); at != std::string::npos; at = text.find(ns))
    text.replace(at, ns.size(), "<namespace>");
  return json::parse(text).value();
}

Task<Result<json::Value>> look(rt::Runtime runtime, kube::Api& api, const std::string& ns) {
  json::Object snapshot;
  for (const auto& [plural, root] : kCollections) {
    net::Request request{"GET", fmt::format("{}/namespaces/{}/{}", root, ns, plural), {}, ""};
    CO_TRY(auto answer, co_await api.call(std::move(request), runtime.in(30s)));
    CO_TRY(auto list, json::parse(answer.body));
    json::Array items;
    if (auto* found = json::find(list, "/items"))
      for (auto& item : found->as_array())
        if (json::text_or(item, "/metadata/name", "") != "kube-root-ca.crt")
          items.push_back(scrub(std::move(item), ns));
    sort_by_text(items);
    snapshot[plural] = std::move(items);
  }
  net::Request request{"GET", "/api/v1/namespaces/" + ns, {}, ""};
  CO_TRY(auto answer, co_await api.call(std::move(request), runtime.in(30s)));
  snapshot["namespace"] = answer.status;
  co_return snapshot;
}

Task<Result<json::Value>> settle(rt::Runtime runtime, kube::Api& api, std::string ns,
                                 int quiet_looks) {
  const auto deadline = runtime.in(kPatience);
  json::Value last;
  for (int quiet = 0; quiet < quiet_looks;) {
    if (deadline.passed(*runtime.clock)) co_return fail(Code::kTimeout, ns + " does not rest");
    CO_TRY(co_await runtime.clock->sleep_until(runtime.in(kLook).at));
    CO_TRY(auto now, co_await look(runtime, api, ns));
    quiet = json::equal(now, last) ? quiet + 1 : 0;
    last = std::move(now);
  }
  co_return last;
}

}  // namespace

Task<Result<void>> lay_ground(rt::Runtime runtime, kube::Api& api) {
  for (const auto& step : common_ground()) {
    CO_TRY(const auto reply, co_await ask(runtime, api, step, {}));
    if (const auto* status = json::find(reply, "/status");
        !status || status->to_number<int>() >= 300)
      co_return fail(Code::kInternal, json::render(reply));
  }
  co_return Result<void>();
}

Task<Result<Snapshots>> play_to_rest(rt::Runtime runtime, kube::Api& api, const Script& script) {
  const auto ns = "c-" + script.name;
  CO_TRY(co_await make_namespace(runtime, api, ns));
  Snapshots snapshots;
  Transcript transcript;
  for (const auto& phase : script.phases) {
    for (auto step : phase) {
      step.path = with_namespace(step.path, ns);
      step.body = json::parse(with_namespace(json::render(step.body), ns)).value();
      CO_TRY(auto reply, co_await ask(runtime, api, step, transcript));
      transcript.push_back(std::move(reply));
    }
    CO_TRY(auto snapshot, co_await settle(runtime, api, ns, script.quiet_looks));
    snapshots.push_back(std::move(snapshot));
  }
  co_return snapshots;
}

}  // namespace quorate::conform

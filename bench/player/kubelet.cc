#include "bench/player/kubelet.h"

#include <fmt/format.h>

#include "api/names.h"
#include "apiserver/verbs.h"
#include "base/check.h"
#include "base/launch_contract.h"
#include "bench/measure.h"

namespace quorate::bench {
namespace {

constexpr const char* kNode = "node-0";
constexpr const char* kStarted = "2026-01-01T00:00:00Z";

json::Array container_statuses(const json::Value& pod, std::string_view list, json::Object state) {
  json::Array all;
  const auto* containers = json::find(pod, list);
  if (!containers) return all;
  for (const auto& container : containers->get_array())
    all.push_back(json::Object{{"name", json::text_or(container, "/name", "")},
                               {"image", json::text_or(container, "/image", "")},
                               {"imageID", ""},
                               {"ready", true},
                               {"started", true},
                               {"restartCount", 0},
                               {"state", state}});
  return all;
}

json::Value running_status(const json::Value& pod, const std::string& address) {
  json::Array conditions;
  for (const char* type :
       {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"})
    conditions.push_back(
        json::Object{{"type", type}, {"status", "True"}, {"lastTransitionTime", kStarted}});
  const json::Object ended{
      {"terminated",
       json::Object{{"exitCode", 0}, {"reason", "Completed"}, {"startedAt", kStarted}}}};
  const json::Object running{{"running", json::Object{{"startedAt", kStarted}}}};
  return json::Object{
      {"status",
       json::Object{
           {"phase", "Running"},
           {"startTime", kStarted},
           {"hostIP", "127.0.0.1"},
           {"podIP", address},
           {"podIPs", json::Array{json::Object{{"ip", address}}}},
           {"conditions", std::move(conditions)},
           {"initContainerStatuses", container_statuses(pod, "/spec/initContainers", ended)},
           {"containerStatuses", container_statuses(pod, "/spec/containers", running)}}}};
}

// The launch guard starts nothing in it yet.
bool is_held(const json::Value& pod) {
  const auto notes = json::object_at(pod, "/metadata/annotations");
  if (!notes) return false;
  const auto* formation = (*notes)->if_contains(api::kAnnotationFormation);
  return formation && *formation == json::Value(launch::kFormationHeld);
}

const json::Value kBound = json::Object{{"status", json::Object{{"phase", "Bound"}}}};

void expect(bool done, const char* what, const ObjectKey& key) {
  CHECK(done, "the player cannot {} {}", what, key.text());
}

}  // namespace

Kubelet::Kubelet(rt::Runtime runtime, apiserver::Server& server)
    : runtime_(runtime),
      server_(server),
      work_(runtime),
      listener_(server.storage().listen([this](const apiserver::Event& event) { note(event); })) {}

void Kubelet::note(const apiserver::Event& event) {
  const auto& kinds = server_.registry().built_in();
  const bool ours = event.kind == kinds.pods || event.kind == kinds.claims;
  if (!ours || event.type == apiserver::Event::Type::kDeleted) return;
  waiting_.emplace_back(event.kind, event.key);
  work_.notify();
}

Task<void> Kubelet::run() {
  for (;;) {
    while (!waiting_.empty()) {
      const auto [kind, key] = waiting_.front();
      waiting_.pop_front();
      work_on(*kind, key);
      if (!co_await rt::yield(runtime_)) co_return;
    }
    if (!co_await work_.wait(rt::Deadline::never())) co_return;
  }
}

void Kubelet::work_on(const apiserver::Kind& kind, const ObjectKey& key) {
  const auto record = server_.storage().find(kind, key);
  if (!record) return;
  const auto object = record->value();
  auto& verbs = server_.verbs();
  if (json::find(object, "/metadata/deletionTimestamp")) {
    expect(verbs.remove(kind, key, {.grace_seconds = 0}).has_value(), "delete", key);
    return;
  }
  const auto phase = json::text_or(object, "/status/phase", "Pending");
  if (phase != "Pending") return;
  if (&kind == server_.registry().built_in().pods) {
    if (!is_held(object)) start_pod(key, object);
    return;
  }
  expect(verbs
             .patch(kind, key, apiserver::PatchType::kMerge, kBound,
                    {.manager = "binder", .subresource = "status"})
             .has_value(),
         "bind", key);
}

void Kubelet::start_pod(const ObjectKey& key, const json::Value& pod) {
  auto& verbs = server_.verbs();
  if (!json::find(pod, "/spec/nodeName")) {
    const json::Value binding = json::Object{
        {"apiVersion", "v1"},
        {"kind", "Binding"},
        {"metadata", json::Object{{"name", key.name}, {"namespace", key.ns}}},
        {"target", json::Object{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", kNode}}}};
    expect(verbs.bind(key, binding).has_value(), "bind", key);
  }
  const auto status = running_status(pod, next_address());
  expect(verbs
             .patch(*server_.registry().built_in().pods, key, apiserver::PatchType::kMerge, status,
                    {.manager = "kubelet", .subresource = "status"})
             .has_value(),
         "start", key);
}

std::string Kubelet::next_address() {
  const unsigned number = ++addresses_;
  CHECK(number < 65'535, "more Pods than addresses");
  return fmt::format("198.18.{}.{}", number >> 8, number & 255);
}

}  // namespace quorate::bench

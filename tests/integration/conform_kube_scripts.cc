// What is asked of controllers: garbage collection, Jobs, EndpointSlices, budgets, namespaces.

#include <fmt/format.h>

#include <stdexcept>

#include "conform_kube_settle.h"

namespace quorate::conform {

namespace {

constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kPods = "/api/v1/namespaces/$NS/pods";
constexpr const char* kConfigMaps = "/api/v1/namespaces/$NS/configmaps";
constexpr const char* kServices = "/api/v1/namespaces/$NS/services";
constexpr const char* kBudgets = "/apis/policy/v1/namespaces/$NS/poddisruptionbudgets";
constexpr const char* kJobs = "/apis/batch/v1/namespaces/$NS/jobs";
constexpr const char* kClusters = "/apis/quorate.io/v1alpha1/namespaces/$NS/etcdclusters";

json::Value parse(std::string_view text) {
  auto parsed = json::parse(text);
  if (!parsed) throw std::logic_error(std::string(text) + ": " + parsed.error().text());
  return std::move(*parsed);
}

Step request(const char* method, std::string path, json::Value body = nullptr,
             const char* type = "application/json") {
  return {.method = method,
          .path = std::move(path),
          .content_type = type,
          .body = std::move(body),
          .from = {}};
}
Step post(const char* collection, std::string_view body) {
  return request("POST", collection, parse(body));
}
Step merge(std::string path, std::string_view body) {
  return request("PATCH", std::move(path), parse(body), kMerge);
}
Step get(std::string path) { return request("GET", std::move(path)); }
Step remove(std::string path, std::string_view policy) {
  return request("DELETE", std::move(path), {{"propagationPolicy", policy}});
}
std::string at(const char* collection, std::string_view name) {
  return fmt::format("{}/{}", collection, name);
}

// A ConfigMap that may belong to others: each owner is the number of the step that made it and its
// name.
struct Owner {
  int step;
  std::string name;
  bool blocks = false;
};
Step config_map(std::string_view name, std::vector<Owner> owners = {},
                std::vector<std::string> finalizers = {}) {
  json::Object metadata{{"name", name}};
  json::Array references, held;
  for (const auto& owner : owners)
    references.push_back({{"apiVersion", "v1"},
                          {"kind", "ConfigMap"},
                          {"name", owner.name},
                          {"uid", fmt::format("${{{}:/metadata/uid}}", owner.step)},
                          {"blockOwnerDeletion", owner.blocks}});
  for (const auto& finalizer : finalizers) held.emplace_back(finalizer);
  if (!references.empty()) metadata["ownerReferences"] = std::move(references);
  if (!held.empty()) metadata["finalizers"] = std::move(held);
  return request("POST", kConfigMaps,
                 {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", std::move(metadata)}});
}

Step pod(std::string_view name, std::string_view more = "{}") {
  auto body = parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"x"}},
    "spec":{"containers":[{"name":"c","image":"i:1","ports":[{"name":"client",
    "containerPort":2379}]}],"serviceAccountName":"default","nodeName":"n1",
    "automountServiceAccountToken":false}})");
  (void)json::put(body, "/metadata/name", json::Value(name));
  const auto extra = parse(more);
  for (const auto& [pointer, value] : extra.as_object()) (void)json::put(body, pointer, value);
  return request("POST", kPods, std::move(body));
}
Step pod_is(std::string_view name, std::string_view address, bool ready) {
  return merge(at(kPods, name) + "/status",
               fmt::format(R"({{"status":{{"phase":"Running","podIP":"{}","podIPs":[{{"ip":"{}"}}],
      "conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
                           address, address, ready ? "True" : "False"));
}

Step job(std::string_view name, std::string_view spec = "{}") {
  auto body = parse(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{},"spec":{"template":{
    "spec":{"restartPolicy":"Never","serviceAccountName":"default",
    "automountServiceAccountToken":false,"containers":[{"name":"c","image":"i:1"}]}}}})");
  (void)json::put(body, "/metadata/name", json::Value(name));
  const auto extra = parse(spec);
  for (const auto& [key, value] : extra.as_object())
    (void)json::put(body, fmt::format("/spec/{}", std::string_view(key)), value);
  return request("POST", kJobs, std::move(body));
}
// The Pod that stands at a place of a list that an earlier step read.
Step listed_pod_is(int list, int place, std::string_view phase) {
  return merge(fmt::format("{}/${{{}:/items/{}/metadata/name}}/status", kPods, list, place),
               fmt::format(R"({{"status":{{"phase":"{}"}}}})", phase));
}

std::vector<Script> garbage_scripts() {
  return {
      {"gc-background",
       {{config_map("owner"), config_map("a", {{0, "owner"}}), config_map("b", {{0, "owner"}})},
        {remove(at(kConfigMaps, "owner"), "Background")}}},
      {"gc-orphan",
       {{config_map("owner"), config_map("a", {{0, "owner"}})},
        {remove(at(kConfigMaps, "owner"), "Orphan")}}},
      {"gc-foreground",
       {{config_map("owner"), config_map("a", {{0, "owner", true}}, {"x.io/keep"}),
         config_map("b", {{0, "owner"}}, {"x.io/keep"})},
        {remove(at(kConfigMaps, "owner"), "Foreground")},
        {merge(at(kConfigMaps, "a"), R"({"metadata":{"finalizers":null}})")},
        {merge(at(kConfigMaps, "b"), R"({"metadata":{"finalizers":null}})")}}},
      {"gc-missing-owner",
       {{post(kConfigMaps, R"({"metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1",
         "kind":"ConfigMap","name":"never","uid":"11111111-2222-4333-8444-555555555555"}]}})")}}},
      {"gc-other-uid",
       {{config_map("owner"),
         post(kConfigMaps, R"({"metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1",
         "kind":"ConfigMap","name":"owner","uid":"11111111-2222-4333-8444-555555555555"}]}})")}}},
      {"gc-two-owners",
       {{config_map("one"), config_map("two"), config_map("a", {{0, "one"}, {1, "two"}})},
        {remove(at(kConfigMaps, "one"), "Background")},
        {remove(at(kConfigMaps, "two"), "Background")}}},
      {"gc-chain",
       {{config_map("owner"), config_map("a", {{0, "owner", true}}),
         config_map("b", {{1, "a", true}})},
        {remove(at(kConfigMaps, "owner"), "Foreground")}}},
      {"gc-chain-background",
       {{config_map("owner"), config_map("a", {{0, "owner"}}), config_map("b", {{1, "a"}})},
        {remove(at(kConfigMaps, "owner"), "Background")}}},
      {"gc-waiting-owner",
       {{config_map("one"), config_map("two"),
         config_map("a", {{0, "one", true}, {1, "two", true}})},
        {remove(at(kConfigMaps, "one"), "Foreground")}}},
      {"gc-unknown-kind",
       {{post(kConfigMaps, R"({"metadata":{"name":"a","ownerReferences":[{"apiVersion":"x.io/v1",
         "kind":"Thing","name":"t","uid":"11111111-2222-4333-8444-555555555555"}]}})")}}},
      {"gc-cluster",
       {{post(kClusters, R"({"apiVersion":"quorate.io/v1alpha1","kind":"EtcdCluster",
         "metadata":{"name":"c"},"spec":{"replicas":3}})"),
         post(kConfigMaps, R"({"metadata":{"name":"a","ownerReferences":[{
         "apiVersion":"quorate.io/v1alpha1","kind":"EtcdCluster","name":"c","controller":true,
         "uid":"${0:/metadata/uid}"}]}})")},
        {remove(at(kClusters, "c"), "Background")}}},
      {"gc-pods",
       {{config_map("owner"),
         pod("p", R"({"/metadata/ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",
             "name":"owner","uid":"${0:/metadata/uid}","blockOwnerDeletion":true}]})")},
        {remove(at(kConfigMaps, "owner"), "Foreground")}}},
  };
}

std::vector<Script> job_scripts() {
  return {
      {"job-completes",
       {{job("j")},
        {get(kPods), listed_pod_is(1, 0, "Running")},
        {listed_pod_is(1, 0, "Succeeded")}}},
      {"job-fails",
       {{job("j", R"({"backoffLimit":0})")}, {get(kPods), listed_pod_is(1, 0, "Failed")}}},
      // The next try comes after ten seconds.
      {"job-retries", {{job("j")}, {get(kPods), listed_pod_is(1, 0, "Failed")}}, 14},
      {"job-suspended",
       {{job("j", R"({"suspend":true})")},
        {merge(at(kJobs, "j"), R"({"spec":{"suspend":false}})")},
        {merge(at(kJobs, "j"), R"({"spec":{"suspend":true}})")}}},
      {"job-deadline", {{job("j", R"({"activeDeadlineSeconds":2})")}, {get(kJobs)}}},
      {"job-two",
       {{job("j", R"({"parallelism":2,"completions":3})")},
        {get(kPods), listed_pod_is(1, 0, "Succeeded"), listed_pod_is(1, 1, "Succeeded")}}},
      {"job-scaled",
       {{job("j", R"({"parallelism":2,"completions":3})")},
        {merge(at(kJobs, "j"), R"({"spec":{"parallelism":1}})")}}},
      {"job-background", {{job("j")}, {remove(at(kJobs, "j"), "Background")}}},
      {"job-orphan", {{job("j")}, {remove(at(kJobs, "j"), "Orphan")}}},
      {"job-foreground", {{job("j")}, {remove(at(kJobs, "j"), "Foreground")}}},
      {"job-expires",
       {{job("j", R"({"ttlSecondsAfterFinished":0})")},
        {get(kPods), listed_pod_is(1, 0, "Succeeded")}}},
      {"job-pod-deleted",
       {{job("j")},
        {get(kPods), request("DELETE", fmt::format("{}/${{1:/items/0/metadata/name}}", kPods))}},
       14},
  };
}

constexpr const char* kService = R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s",
  "labels":{"team":"t"}},"spec":{"selector":{"app":"x"},
  "ports":[{"name":"client","port":80,"targetPort":2379}]}})";

std::vector<Script> endpoint_scripts() {
  return {
      {"slice-none", {{post(kServices, kService)}}},
      {"slice-ready",
       {{post(kServices, kService), pod("a"), pod("b")},
        {pod_is("a", "10.1.0.1", true)},
        {pod_is("b", "10.1.0.2", false)},
        {pod_is("b", "10.1.0.2", true), pod_is("a", "10.1.0.1", false)}}},
      {"slice-leaving",
       {{post(kServices, kService), pod("a"), pod_is("a", "10.1.0.1", true)},
        {request("DELETE", at(kPods, "a"))},
        {request("DELETE", at(kPods, "a"), {{"gracePeriodSeconds", 0}})}}},
      {"slice-finished",
       {{post(kServices, kService), pod("a"), pod_is("a", "10.1.0.1", true)},
        {merge(at(kPods, "a") + "/status", R"({"status":{"phase":"Failed",
          "conditions":[{"type":"Ready","status":"False"}]}})")}}},
      {"slice-headless",
       {{post(kServices, R"({"metadata":{"name":"s"},"spec":{"clusterIP":"None",
         "publishNotReadyAddresses":true,"selector":{"app":"x"},
         "ports":[{"name":"peer","port":2380},{"name":"client","port":2379}]}})"),
         pod("a", R"({"/spec/hostname":"a","/spec/subdomain":"s"})"), pod("b"),
         pod_is("a", "10.1.0.1", false), pod_is("b", "10.1.0.2", true)}}},
      {"slice-named-port",
       {{post(kServices, R"({"metadata":{"name":"s"},"spec":{"selector":{"app":"x"},
         "ports":[{"name":"client","port":80,"targetPort":"client"}]}})"),
         pod("a"), pod_is("a", "10.1.0.1", true)}}},
      {"slice-selector",
       {{post(kServices, kService), pod("a"), pod_is("a", "10.1.0.1", true)},
        {merge(at(kServices, "s"), R"({"spec":{"selector":{"app":"y"}}})")},
        {merge(at(kPods, "a"), R"({"metadata":{"labels":{"app":"y"}}})")}}},
      {"slice-deleted",
       {{post(kServices, kService), pod("a"), pod_is("a", "10.1.0.1", true)},
        {request("DELETE", at(kServices, "s"))}}},
      {"slice-removed-by-hand",
       {{post(kServices, kService), pod("a"), pod_is("a", "10.1.0.1", true)},
        {request("DELETE", "/apis/discovery.k8s.io/v1/namespaces/$NS/endpointslices")}}},
  };
}

Step budget(std::string_view spec) {
  auto body = parse(R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget",
    "metadata":{"name":"b"},"spec":{"selector":{"matchLabels":{"app":"x"}}}})");
  const auto extra = parse(spec);
  for (const auto& [key, value] : extra.as_object())
    (void)json::put(body, fmt::format("/spec/{}", std::string_view(key)), value);
  return request("POST", kBudgets, std::move(body));
}

std::vector<Script> budget_scripts() {
  const auto cluster = post(kClusters, R"({"apiVersion":"quorate.io/v1alpha1","kind":"EtcdCluster",
         "metadata":{"name":"c"},"spec":{"replicas":3}})");
  const auto owned = R"({"/metadata/ownerReferences":[{"apiVersion":"quorate.io/v1alpha1",
    "kind":"EtcdCluster","name":"c","controller":true,"uid":"${0:/metadata/uid}"}]})";
  return {
      {"budget-empty", {{budget(R"({"minAvailable":1})")}}},
      {"budget-counts",
       {{budget(R"({"minAvailable":1})"), pod("a"), pod("b")},
        {pod_is("a", "10.1.0.1", true), pod_is("b", "10.1.0.2", true)},
        {pod_is("a", "10.1.0.1", false)},
        {request("DELETE", at(kPods, "b"))}}},
      {"budget-share",
       {{cluster, budget(R"({"maxUnavailable":1})"), pod("a", owned), pod("b", owned),
         pod_is("a", "10.1.0.1", true), pod_is("b", "10.1.0.2", true)},
        {merge(at(kClusters, "c"), R"({"spec":{"replicas":1}})"), pod_is("b", "10.1.0.2", false)}}},
      {"budget-percent",
       {{cluster, budget(R"({"minAvailable":"50%"})"), pod("a", owned), pod("b", owned),
         pod_is("a", "10.1.0.1", true), pod_is("b", "10.1.0.2", true)}}},
      {"budget-eviction",
       {{budget(R"({"minAvailable":1})"), pod("a"), pod("b"), pod_is("a", "10.1.0.1", true),
         pod_is("b", "10.1.0.2", true)},
        {post("/api/v1/namespaces/$NS/pods/a/eviction",
              R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"}})"),
         post("/api/v1/namespaces/$NS/pods/b/eviction",
              R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"b"}})")},
        {request("DELETE", at(kPods, "a"), {{"gracePeriodSeconds", 0}})}}},
      {"budget-changed",
       {{budget(R"({"minAvailable":1})"), pod("a"), pod_is("a", "10.1.0.1", true)},
        {merge(at(kBudgets, "b"), R"({"spec":{"minAvailable":0}})")}}},
  };
}

std::vector<Script> namespace_scripts() {
  return {
      {"ns-empty", {{request("DELETE", "/api/v1/namespaces/$NS")}}, 10},
      {"ns-full",
       {{config_map("a"), config_map("b", {}, {"x.io/keep"}), pod("p"), post(kServices, kService)},
        {request("DELETE", "/api/v1/namespaces/$NS")},
        {request("DELETE", at(kPods, "p"), {{"gracePeriodSeconds", 0}}),
         merge(at(kConfigMaps, "b"), R"({"metadata":{"finalizers":null}})")}},
       // The real controller begins after five seconds, and looks again after sixteen.
       22},
  };
}

}  // namespace

std::vector<Step> common_ground() {
  return {post("/api/v1/nodes", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})"),
          merge("/api/v1/nodes/n1/status", R"({"status":{"conditions":[{"type":"Ready",
            "status":"True","lastHeartbeatTime":"2020-01-02T03:04:05Z",
            "lastTransitionTime":"2020-01-02T03:04:05Z"}]}})")};
}

const std::vector<Script>& controller_scripts() {
  static const auto all = [] {
    std::vector<Script> out;
    for (auto scripts : {garbage_scripts(), job_scripts(), endpoint_scripts(), budget_scripts(),
                         namespace_scripts()})
      out.insert(out.end(), scripts.begin(), scripts.end());
    return out;
  }();
  return all;
}

}  // namespace quorate::conform

#include "conform_kube_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "conform_kube_samples.h"

namespace quorate::conform {

namespace {

constexpr const char* kForms[] = {
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
    "application/json;as=Table;v=v1;g=other.io,application/json",
};
const std::string kTable = kForms[0];

// One state of an object: what is posted beside metadata, and what its status becomes.
struct State {
  const char* plural;
  const char* document;
  const char* status = nullptr;
};

// The states that a row tells apart.
constexpr State kStates[] = {
    {"pods", R"({"spec":{"containers":[{"name":"c","image":"i"}]}})",
     R"({"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],
         "containerStatuses":[{"name":"c","ready":true,"restartCount":2,"image":"i","imageID":"",
         "state":{"running":{"startedAt":"2020-01-02T03:04:05Z"}},
         "lastState":{"terminated":{"exitCode":1,"finishedAt":"2020-01-02T03:04:04Z"}}}]})"},
    {"pods", R"({"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}],
                 "readinessGates":[{"conditionType":"x.io/a"},{"conditionType":"x.io/b"}]}})",
     R"({"phase":"Pending","nominatedNodeName":"n2","containerStatuses":[{"name":"c","ready":false,
         "restartCount":0,"image":"i","imageID":"",
         "state":{"waiting":{"reason":"ImagePullBackOff"}}}],
         "conditions":[{"type":"x.io/a","status":"True"},{"type":"x.io/b","status":"False"}]})"},
    {"pods", R"({"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":"Never"}})",
     R"({"phase":"Succeeded","containerStatuses":[{"name":"c","ready":false,"restartCount":0,
         "image":"i","imageID":"","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]})"},
    {"pods", R"({"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":"Never"}})",
     R"({"phase":"Failed","containerStatuses":[{"name":"c","ready":false,"restartCount":0,
         "image":"i","imageID":"","state":{"terminated":{"exitCode":3,"signal":9}}}]})"},
    {"pods", R"({"spec":{"containers":[{"name":"c","image":"i"}],"restartPolicy":"Never"}})",
     R"({"phase":"Failed","reason":"Evicted","containerStatuses":[{"name":"c","ready":false,
         "restartCount":0,"image":"i","imageID":"","state":{"terminated":{"exitCode":3}}}]})"},
    {"pods", R"({"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"i"}]}})",
     R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[
         {"name":"c","ready":false,"restartCount":0,"image":"i","imageID":"",
          "state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
         {"name":"d","ready":true,"restartCount":0,"image":"i","imageID":"",
          "state":{"running":{}}}]})"},
    {"pods", R"({"spec":{"initContainers":[{"name":"a","image":"i"},{"name":"b","image":"i"}],
                 "containers":[{"name":"c","image":"i"}]}})",
     R"({"phase":"Pending","initContainerStatuses":[
         {"name":"a","ready":true,"restartCount":1,"image":"i","imageID":"",
          "state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
         {"name":"b","ready":false,"restartCount":0,"image":"i","imageID":"",
          "state":{"running":{}}}]})"},
    {"pods", R"({"spec":{"initContainers":[{"name":"a","image":"i"}],
                 "containers":[{"name":"c","image":"i"}]}})",
     R"({"phase":"Pending","initContainerStatuses":[{"name":"a","ready":false,"restartCount":4,
         "image":"i","imageID":"","state":{"waiting":{"reason":"CrashLoopBackOff"}},
         "lastState":{"terminated":{"exitCode":1,"finishedAt":"2020-01-02T03:04:04Z"}}}]})"},
    {"pods", R"({"spec":{"initContainers":[{"name":"a","image":"i"}],
                 "containers":[{"name":"c","image":"i"}]}})",
     R"({"phase":"Pending","initContainerStatuses":[{"name":"a","ready":false,"restartCount":0,
         "image":"i","imageID":"","state":{"terminated":{"exitCode":7}}}]})"},
    {"pods", R"({"spec":{"initContainers":[{"name":"a","image":"i","restartPolicy":"Always"}],
                 "containers":[{"name":"c","image":"i"}]}})",
     R"({"phase":"Running","initContainerStatuses":[{"name":"a","ready":true,"started":true,
         "restartCount":3,"image":"i","imageID":"","state":{"running":{}}}],
         "containerStatuses":[{"name":"c","ready":true,"restartCount":0,"image":"i","imageID":"",
         "state":{"running":{}}}]})"},
    {"pods", R"({"metadata":{"finalizers":["x.io/keep"]},
                 "spec":{"containers":[{"name":"c","image":"i"}],
                 "schedulingGates":[{"name":"x.io/wait"}]}})"},
    {"nodes", R"({"metadata":{"labels":{"node-role.kubernetes.io/b":"","kubernetes.io/role":"a",
                  "node-role.kubernetes.io/":"x"}},"spec":{"unschedulable":true}})",
     R"({"conditions":[{"type":"Ready","status":"True"}],"nodeInfo":{"machineID":"","systemUUID":"",
         "bootID":"","kernelVersion":"6.1","osImage":"Linux","containerRuntimeVersion":"r://1",
         "kubeletVersion":"v1.34.4","kubeProxyVersion":"","operatingSystem":"linux",
         "architecture":"amd64"},"addresses":[{"type":"InternalIP","address":"10.0.0.9"},
         {"type":"ExternalIP","address":"192.0.2.9"}]})"},
    {"nodes", R"({})", R"({"conditions":[{"type":"Ready","status":"Unknown"}]})"},
    {"services", R"({"spec":{"type":"NodePort","ports":[{"port":80,"name":"a","nodePort":30080},
                     {"port":53,"name":"b","protocol":"UDP","nodePort":30053}],"externalIPs":["192.0.2.4"]}})"},
    {"services", R"({"spec":{"type":"ExternalName","externalName":"x.example.com"}})"},
    {"services",
     R"({"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":80}],
                     "selector":{"b":"c","a":"d"}}})"},
    {"services",
     R"({"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":80}]}})",
     R"({"loadBalancer":{"ingress":[{"hostname":"b.example.com"},{"ip":"192.0.2.5"}]}})"},
    {"services", R"({"spec":{"clusterIP":"None","selector":{"a":"b"}}})"},
    {"jobs", R"({"spec":{"parallelism":3,"template":{"spec":{"restartPolicy":"Never",
                 "containers":[{"name":"c","image":"i"},{"name":"d","image":"j"}]}}}})",
     R"({"active":1,"ready":1,"startTime":"2020-01-02T03:04:05Z"})"},
    {"jobs", R"({"spec":{"completions":2,"suspend":true,"template":{"spec":{"restartPolicy":"Never",
                 "containers":[{"name":"c","image":"i"}]}}}})",
     R"({"conditions":[{"type":"Suspended","status":"True"}]})"},
    {"persistentvolumeclaims",
     R"({"spec":{"storageClassName":"sc","accessModes":["ReadWriteMany","ReadWriteOnce"],"volumeName":"v",
         "resources":{"requests":{"storage":"1Gi"}}}})",
     R"({"phase":"Bound","accessModes":["ReadWriteMany","ReadWriteOnce"],
         "capacity":{"storage":"2Gi"}})"},
    {"persistentvolumes",
     R"({"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany","ReadOnlyMany"],
         "hostPath":{"path":"/x"},"claimRef":{"namespace":"n","name":"c"}}})",
     R"({"phase":"Released","reason":"Because"})"},
    {"storageclasses",
     R"({"provisioner":"x.io/y","reclaimPolicy":"Retain","allowVolumeExpansion":true})"},
    {"poddisruptionbudgets", R"({"spec":{"maxUnavailable":"30%",
                                 "selector":{"matchLabels":{"a":"b"}}}})"},
    {"endpointslices",
     R"({"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1","10.0.0.2"]},
         {"addresses":["10.0.0.3","10.0.0.4","10.0.0.5"]}],
         "ports":[{"name":"a","port":1},{"name":"b"},{"name":"c","port":3},{"name":"d","port":4}]})"},
    {"endpointslices", R"({"addressType":"IPv6","endpoints":[]})"},
    {"configmaps", R"({"data":{"a":"1","b":"2"},"binaryData":{"c":"aGVsbG8="}})"},
    {"etcdclusters", R"({"spec":{"replicas":3}})", R"({"ready":"2/3","phase":"Forming"})"},
};

json::Value parse(const char* text) {
  auto parsed = json::parse(text);
  if (!parsed) throw std::logic_error(std::string(text) + ": " + parsed.error().text());
  return std::move(*parsed);
}

// Writes a sequence of requests to one kind.
class Author {
 public:
  Author(const Sample& sample, std::uint64_t seed) : sample_(sample) {
    sequence_.seed = seed;
    sequence_.kind = sample.kind;
    sequence_.ns = fmt::format("forms-{}", seed);
    // The real server's watches of cluster-wide kinds see what others do: ask for our own alone.
    selector_ = fmt::format("labelSelector=forms%3D{}", seed);
  }

  void post(const std::string& name, json::Value body,
            const std::string& accept = "application/json") {
    body.as_object()["apiVersion"] = sample_.api_version();
    body.as_object()["kind"] = sample_.kind;
    (void)json::put(body, "/metadata/name",
                    json::Value(sample_.namespaced ? name : sequence_.ns + name));
    (void)json::put(body, "/metadata/labels/forms", json::Value(fmt::to_string(sequence_.seed)));
    ask("POST", collection(), std::move(body), accept);
  }
  void patch(const std::string& place, json::Value patch,
             const std::string& accept = "application/json") {
    ask("PATCH", place, std::move(patch), accept);
    sequence_.steps.back().content_type = "application/merge-patch+json";
  }
  void ask(std::string method, std::string path, json::Value body = nullptr,
           const std::string& accept = "application/json") {
    sequence_.steps.push_back({.method = std::move(method),
                               .path = std::move(path),
                               .accept = accept,
                               .body = std::move(body),
                               .from = {}});
  }
  void watch(const std::string& accept) {
    ask("GET", list("watch=true&allowWatchBookmarks=true&timeoutSeconds=1"), nullptr, accept);
    sequence_.steps.back().is_watch = true;
  }

  std::string collection() const {
    return sample_.namespaced
               ? fmt::format("{}/namespaces/{}/{}", sample_.root(), sequence_.ns, sample_.plural)
               : fmt::format("{}/{}", sample_.root(), sample_.plural);
  }
  std::string list(const std::string& query) const {
    return fmt::format("{}?{}&{}", collection(), selector_, query);
  }
  std::string object(const std::string& name) const {
    return fmt::format("{}/{}{}", collection(), sample_.namespaced ? "" : sequence_.ns, name);
  }
  Sequence take() { return std::move(sequence_); }

 private:
  const Sample& sample_;
  Sequence sequence_;
  std::string selector_;
};

json::Value body_of(const Sample& sample, const std::string& ns) {
  auto text = json::render(sample.body);
  for (auto at = text.find("$NS"); at != std::string::npos; at = text.find("$NS"))
    text.replace(at, 3, ns);
  return parse(text.c_str());
}

// Every form of one kind, for all that can be answered.
Sequence ask_in_all_forms(const Sample& sample, std::uint64_t seed) {
  Author author(sample, seed);
  const auto ns = fmt::format("forms-{}", seed);
  author.post("a", body_of(sample, ns));
  author.post("b", body_of(sample, ns), kTable);
  for (const auto* form : kForms) {
    author.ask("GET", author.object("a"), nullptr, form);
    author.ask("GET", author.list(""), nullptr, form);
    author.ask("GET", author.list("limit=1"), nullptr, form);
    author.ask("GET", author.object("nobody"), nullptr, form);
    author.watch(form);
  }
  for (const auto* include : {"None", "Object", "Metadata", "Everything"}) {
    author.ask("GET", author.list(fmt::format("includeObject={}", include)), nullptr, kTable);
    author.ask("GET", author.object("a") + fmt::format("?includeObject={}", include), nullptr,
               kTable);
  }
  author.patch(author.object("a"), {{"metadata", {{"annotations", {{"note", "n"}}}}}}, kTable);
  author.patch(author.object("a"), {{"metadata", {{"annotations", {{"note", "m"}}}}}}, kForms[2]);
  if (sample.has_scale) {
    author.ask("GET", author.object("a") + "/scale", nullptr, kTable);
    author.ask("GET", author.object("a") + "/scale", nullptr, kForms[2]);
  }
  if (sample.has_status) author.ask("GET", author.object("a") + "/status", nullptr, kTable);
  return author.take();
}

// The states of one kind, each as the row of an object, in a table of all of them.
Sequence show_states(const Sample& sample, std::uint64_t seed) {
  Author author(sample, seed);
  int number = 0;
  for (const auto& state : kStates) {
    if (state.plural != sample.plural) continue;
    const auto name = fmt::format("s{:02}", ++number);
    auto document = parse(state.document);
    // Nobody makes ServiceAccounts here.
    if (sample.kind == "Pod") {
      (void)json::put(document, "/spec/serviceAccountName", "default");
      (void)json::put(document, "/spec/automountServiceAccountToken", false);
    }
    author.post(name, std::move(document));
    if (state.status)
      author.patch(author.object(name) + "/status", {{"status", parse(state.status)}});
    author.ask("GET", author.object(name), nullptr, kTable);
  }
  author.ask("GET", author.list(""), nullptr, kTable);
  // One of them goes, which some rows tell.
  author.ask("DELETE", author.object(fmt::format("s{:02}", number)));
  author.ask("GET", author.list(""), nullptr, kTable);
  return author.take();
}

}  // namespace

std::vector<Sequence> form_sequences() {
  std::vector<Sequence> out;
  std::uint64_t seed = 0;
  for (const auto& sample : samples()) {
    out.push_back(ask_in_all_forms(sample, ++seed));
    const bool told = std::any_of(std::begin(kStates), std::end(kStates), [&](const State& state) {
      return state.plural == sample.plural && sample.group != "events.k8s.io";
    });
    if (told) out.push_back(show_states(sample, ++seed));
  }
  return out;
}

}  // namespace quorate::conform

#include "apiserver/controller_endpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apiserver/controller_objects.h"
#include "apiserver/metadata.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kServiceName = "kubernetes.io/service-name";
constexpr std::string_view kManagedBy = "endpointslice.kubernetes.io/managed-by";
constexpr std::string_view kManager = "endpointslice-controller.k8s.io";
constexpr std::string_view kHeadless = "service.kubernetes.io/headless";

bool selects_pods(const json::Value& service) {
  const auto selector = json::object_at(service, "/spec/selector");
  return selector && !(*selector)->empty() &&
         json::text_or(service, "/spec/type", "") != "ExternalName";
}

bool matches(const json::Value& service, const json::Value& pod) {
  return selects_pods(service) && json::LabelSelector::of(labels_at(service, "/spec/selector"))
                                      .matches(labels_at(pod, "/metadata/labels"));
}

bool is_member(const json::Value& pod) {
  return !json::text_or(pod, "/status/podIP", "").empty() && !is_pod_finished(pod);
}

// The number that a Service's port leads to on a Pod; nothing if the Pod has no port of that name.
std::optional<std::int64_t> target_port(const json::Value& port, const json::Value& pod) {
  const auto* target = json::find(port, "/targetPort");
  if (!target) return json::integer_at(port, "/port").value_or(0);
  if (target->is_int64()) return target->get_int64();
  const auto containers = json::array_at(pod, "/spec/containers");
  for (const auto& container : containers ? **containers : json::Array{}) {
    const auto named = json::array_at(container, "/ports");
    for (const auto& one : named ? **named : json::Array{})
      if (json::text_or(one, "/name", "") == json::text_or(port, "/targetPort", "") &&
          json::text_or(one, "/protocol", "TCP") == json::text_or(port, "/protocol", "TCP"))
        return json::integer_at(one, "/containerPort").value_or(0);
  }
  return std::nullopt;
}

json::Array ports_for(const json::Value& service, const json::Value& pod) {
  json::Array out;
  const auto ports = json::array_at(service, "/spec/ports");
  for (const auto& port : ports ? **ports : json::Array{}) {
    const auto number = target_port(port, pod);
    if (!number) continue;
    out.push_back({{"name", json::text_or(port, "/name", "")},
                   {"protocol", json::text_or(port, "/protocol", "TCP")},
                   {"port", *number}});
  }
  return out;
}

json::Value make_endpoint(const json::Value& service, const json::Value& pod) {
  const bool serving = is_pod_ready(pod), terminating = is_deleting(pod);
  const bool published = json::flag_at(service, "/spec/publishNotReadyAddresses").value_or(false);
  json::Object endpoint{
      {"addresses", json::Array{json::Value(json::text_or(pod, "/status/podIP", ""))}},
      {"conditions",
       {{"ready", published || (serving && !terminating)},
        {"serving", serving},
        {"terminating", terminating}}}};
  const auto hostname = json::text_or(pod, "/spec/hostname", "");
  if (!hostname.empty() && json::text_or(pod, "/spec/subdomain", "") == name_of(service))
    endpoint["hostname"] = hostname;
  endpoint["targetRef"] = {{"kind", "Pod"},
                           {"namespace", namespace_of(pod)},
                           {"name", name_of(pod)},
                           {"uid", uid_of(pod)}};
  if (!node_of(pod).empty()) endpoint["nodeName"] = node_of(pod);
  return endpoint;
}

json::Value make_labels(const json::Value& service) {
  json::Object labels;
  if (const auto own = json::object_at(service, "/metadata/labels")) labels = **own;
  labels[kServiceName] = name_of(service);
  labels[kManagedBy] = kManager;
  if (json::text_or(service, "/spec/clusterIP", "") == "None")
    labels[kHeadless] = "";
  else
    labels.erase(kHeadless);
  return labels;
}

bool is_slice_of(const json::Value& slice, std::string_view service) {
  const auto labels = labels_at(slice, "/metadata/labels");
  const auto name = labels.find(kServiceName), manager = labels.find(kManagedBy);
  return name != labels.end() && name->second == service && manager != labels.end() &&
         manager->second == kManager;
}

}  // namespace

EndpointController::EndpointController(rt::Runtime runtime, Verbs& verbs)
    : Controller(runtime, verbs, "endpointslice-controller") {}

void EndpointController::note(const Change& change) {
  if (&change.kind() == kinds().services) {
    mark(change.work());
  } else if (&change.kind() == kinds().pods) {
    mark_services_of(change.key().ns, change.object());
    if (!change.before().is_null()) mark_services_of(change.key().ns, change.before());
  } else if (&change.kind() == kinds().endpoint_slices) {
    const auto labels = labels_at(change.object(), "/metadata/labels");
    if (const auto name = labels.find(kServiceName); name != labels.end())
      mark({kinds().services, {change.key().ns, name->second}});
  }
}

void EndpointController::mark_services_of(const std::string& ns, const json::Value& pod) {
  for (const auto& [key, record] : objects(*kinds().services))
    if (key.ns == ns && matches(*record->decoded(), pod)) mark({kinds().services, key});
}

void EndpointController::reconcile(const WorkKey& work) {
  const auto service = look_at(*work.kind, work.key);
  if (!service || is_deleting(*service) || !selects_pods(*service)) return;
  json::Array ports;
  auto endpoints = make_endpoints(*service, work.key.ns, ports);
  json::Object slice{{"addressType", "IPv4"}};
  slice["endpoints"] = endpoints.empty() ? json::Value() : json::Value(std::move(endpoints));
  slice["ports"] = ports.empty() ? json::Value() : json::Value(std::move(ports));
  write(*service, work.key.ns, std::move(slice));
}

json::Array EndpointController::make_endpoints(const json::Value& service, const std::string& ns,
                                               json::Array& ports) {
  json::Array endpoints;
  for (const auto& [key, record] : objects(*kinds().pods)) {
    if (key.ns != ns) continue;
    const auto decoded = record->decoded();
    const auto& pod = *decoded;
    if (!matches(service, pod) || !is_member(pod)) continue;
    if (ports.empty()) ports = ports_for(service, pod);
    endpoints.push_back(make_endpoint(service, pod));
  }
  return endpoints;
}

void EndpointController::write(const json::Value& service, const std::string& ns,
                               json::Value slice) {
  std::vector<ObjectKey> there;
  for (const auto& [key, record] : objects(*kinds().endpoint_slices))
    if (key.ns == ns && is_slice_of(*record->decoded(), name_of(service))) there.push_back(key);
  for (std::size_t i = 1; i < there.size(); ++i)
    (void)verbs().remove(*kinds().endpoint_slices, there[i]);
  if (there.empty()) {
    slice.as_object()["metadata"] = {
        {"generateName", fmt::format("{}-", name_of(service))},
        {"labels", make_labels(service)},
        {"ownerReferences", json::Array{make_controller_reference(service)}}};
    (void)verbs().create(*kinds().endpoint_slices, ns, std::move(slice), as_writer());
    return;
  }
  auto object = *find(*kinds().endpoint_slices, there.front());
  for (const char* member : {"endpoints", "ports"})
    object.as_object()[member] = slice.as_object()[member];
  (void)json::put(object, "/metadata/labels", make_labels(service));
  change({kinds().endpoint_slices, there.front()}, std::move(object));
}

}  // namespace quorate::apiserver

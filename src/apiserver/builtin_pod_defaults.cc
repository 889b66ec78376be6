// Defaults of PodSpecs, as k8s.io/kubernetes/pkg/apis/core/v1 sets them.

#include "apiserver/builtin_support.h"

namespace quorate::apiserver {

namespace {

constexpr int kFileMode = 420;  // 0644

// The image's tag, or "latest" if it has neither tag nor digest.
bool is_latest(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return false;
  const auto slash = image.rfind('/');
  const auto name = slash == std::string_view::npos ? image : image.substr(slash + 1);
  const auto colon = name.find(':');
  return colon == std::string_view::npos || name.substr(colon + 1) == "latest";
}

std::string_view text_of(json::Object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value && value->is_string() ? std::string_view(value->get_string()) : "";
}

void set_if_zero(json::Object& object, std::string_view key, int value) {
  const auto* there = object.if_contains(key);
  if (!there || json::equal(*there, 0)) object[key] = value;
}

void set_http_defaults(json::Object& handler) {
  auto* get = find_object(handler, "httpGet");
  if (!get) return;
  set_if_absent(*get, "path", "/");
  set_if_absent(*get, "scheme", "HTTP");
}

void set_probe_defaults(json::Object& container, std::string_view key) {
  auto* probe = find_object(container, key);
  if (!probe) return;
  set_http_defaults(*probe);
  set_if_zero(*probe, "timeoutSeconds", 1);
  set_if_zero(*probe, "periodSeconds", 10);
  set_if_zero(*probe, "successThreshold", 1);
  set_if_zero(*probe, "failureThreshold", 3);
  if (auto* grpc = find_object(*probe, "grpc")) {
    const auto* service = grpc->if_contains("service");
    if (!service || service->is_null()) (*grpc)["service"] = "";
  }
}

void set_container_defaults(json::Object& container) {
  set_if_absent(container, "imagePullPolicy",
                is_latest(text_of(container, "image")) ? "Always" : "IfNotPresent");
  set_if_absent(container, "terminationMessagePath", "/dev/termination-log");
  set_if_absent(container, "terminationMessagePolicy", "File");
  for_each_object(container, "ports",
                  [](json::Object& port) { set_if_absent(port, "protocol", "TCP"); });
  for_each_object(container, "env", [](json::Object& variable) {
    auto* from = find_object(variable, "valueFrom");
    if (auto* field = from ? find_object(*from, "fieldRef") : nullptr)
      set_if_absent(*field, "apiVersion", "v1");
  });
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"})
    set_probe_defaults(container, probe);
  if (auto* lifecycle = find_object(container, "lifecycle"))
    for (const char* hook : {"postStart", "preStop"})
      if (auto* handler = find_object(*lifecycle, hook)) set_http_defaults(*handler);
}

void set_downward_defaults(json::Object& source) {
  for_each_object(source, "items", [](json::Object& item) {
    if (auto* field = find_object(item, "fieldRef")) set_if_absent(*field, "apiVersion", "v1");
  });
}

void set_volume_defaults(json::Object& volume) {
  if (volume.size() <= 1) volume["emptyDir"] = json::Object{};
  for (const char* kind : {"secret", "configMap", "downwardAPI", "projected"})
    if (auto* source = find_object(volume, kind)) set_if_absent(*source, "defaultMode", kFileMode);
  if (auto* source = find_object(volume, "downwardAPI")) set_downward_defaults(*source);
  if (auto* path = find_object(volume, "hostPath"))
    if (!path->contains("type")) (*path)["type"] = "";
  if (auto* projected = find_object(volume, "projected"))
    for_each_object(*projected, "sources", [](json::Object& source) {
      if (auto* token = find_object(source, "serviceAccountToken"))
        set_if_absent(*token, "expirationSeconds", 3600);
      if (auto* downward = find_object(source, "downwardAPI")) set_downward_defaults(*downward);
    });
}

// What is limited and not asked for is asked for.
void set_request_defaults(json::Object& container) {
  auto* resources = find_object(container, "resources");
  auto* limits = resources ? find_object(*resources, "limits") : nullptr;
  if (!limits) return;
  const json::Object copy = *limits;
  auto& requests = object_in(*resources, "requests");
  for (const auto& [name, limit] : copy)
    if (!requests.contains(name)) requests[name] = limit;
}

}  // namespace

void set_pod_defaults(json::Object& spec) {
  for (const char* list : {"containers", "initContainers"})
    for_each_object(spec, list, set_request_defaults);
  set_if_absent(spec, "enableServiceLinks", true);
  if (const auto* host = spec.if_contains("hostNetwork"); host && *host == true)
    for (const char* list : {"containers", "initContainers"})
      for_each_object(spec, list, [](json::Object& container) {
        for_each_object(container, "ports", [](json::Object& port) {
          if (const auto* number = port.if_contains("containerPort");
              number && !port.contains("hostPort"))
            port["hostPort"] = *number;
        });
      });
}

void set_pod_spec_defaults(json::Object& spec) {
  // An old name of the same, which always says the same.
  set_if_absent(spec, "serviceAccountName", json::Value(text_of(spec, "serviceAccount")));
  if (text_of(spec, "serviceAccountName").empty()) {
    spec.stable_erase("serviceAccountName");
    spec.stable_erase("serviceAccount");
  } else {
    spec["serviceAccount"] = json::Value(text_of(spec, "serviceAccountName"));
  }
  set_if_absent(spec, "dnsPolicy", "ClusterFirst");
  set_if_absent(spec, "restartPolicy", "Always");
  set_if_absent(spec, "securityContext", json::Object{});
  set_if_absent(spec, "terminationGracePeriodSeconds", 30);
  set_if_absent(spec, "schedulerName", "default-scheduler");
  for_each_object(spec, "volumes", set_volume_defaults);
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"})
    for_each_object(spec, list, set_container_defaults);
}

}  // namespace quorate::apiserver

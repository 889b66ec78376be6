#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "apiserver/builtin_support.h"
#include "json/quantity.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kTokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr int kEvictionSeconds = 300;

void set_defaults(json::Object& pod) {
  auto& spec = object_in(pod, "spec");
  set_pod_defaults(spec);
  set_pod_spec_defaults(spec);
  auto& status = object_in(pod, "status");
  keep_first_alike(status, "podIP", "podIPs", "ip");
  keep_first_alike(status, "hostIP", "hostIPs", "ip");
}

// --- admission

bool tolerates(const json::Value& toleration, std::string_view key) {
  const auto effect = text_in(toleration, "effect");
  const auto own = text_in(toleration, "key");
  return (own == key || own.empty()) && (effect == "NoExecute" || effect.empty());
}

void add_toleration(json::Object& spec, const char* key) {
  auto& list = spec["tolerations"];
  if (!list.is_array()) list = json::Array{};
  auto& tolerations = list.get_array();
  if (std::any_of(tolerations.begin(), tolerations.end(),
                  [&](const json::Value& one) { return tolerates(one, key); }))
    return;
  tolerations.push_back({{"key", key},
                         {"operator", "Exists"},
                         {"effect", "NoExecute"},
                         {"tolerationSeconds", kEvictionSeconds}});
}

json::Value make_token_volume(std::string_view name) {
  return {
      {"name", name},
      {"projected",
       {{"sources",
         json::Array{
             {{"serviceAccountToken", {{"expirationSeconds", 3607}, {"path", "token"}}}},
             {{"configMap",
               {{"name", "kube-root-ca.crt"},
                {"items", json::Array{{{"key", "ca.crt"}, {"path", "ca.crt"}}}}}}},
             {{"downwardAPI",
               {{"items",
                 json::Array{{{"path", "namespace"},
                              {"fieldRef",
                               {{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}}}}}}}}},
         }},
        {"defaultMode", 420}}}};
}

// The token of the service account, for containers that have nothing mounted in its place.
void add_token(json::Object& spec, const RuleContext& context) {
  const auto* automount = spec.if_contains("automountServiceAccountToken");
  if (automount && *automount == false) return;
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string name = "kube-api-access-";
  for (int i = 0; i < 5; ++i)
    name += kLetters[context.random ? context.random->below(kLetters.size()) : 0];
  bool used = false;
  for (const char* list : {"initContainers", "containers"})
    for_each_object(spec, list, [&](json::Object& container) {
      auto& mounts = container["volumeMounts"];
      if (!mounts.is_array()) mounts = json::Array{};
      auto& array = mounts.get_array();
      if (std::any_of(array.begin(), array.end(), [](const json::Value& mount) {
            return text_in(mount, "mountPath") == kTokenPath;
          }))
        return;
      array.push_back({{"name", name}, {"readOnly", true}, {"mountPath", kTokenPath}});
      used = true;
    });
  if (!used) return;
  auto& volumes = spec["volumes"];
  if (!volumes.is_array()) volumes = json::Array{};
  volumes.get_array().push_back(make_token_volume(name));
}

void admit(json::Object& pod, const RuleContext& context) {
  auto& spec = object_in(pod, "spec");
  set_if_absent(spec, "serviceAccountName", "default");
  spec["serviceAccount"] = spec["serviceAccountName"];
  add_token(spec, context);
  add_toleration(spec, "node.kubernetes.io/not-ready");
  add_toleration(spec, "node.kubernetes.io/unreachable");
  const auto* class_name = spec.if_contains("priorityClassName");
  const std::string_view priority_class =
      class_name && class_name->is_string() ? std::string_view(class_name->get_string()) : "";
  int priority = 0;
  if (priority_class == "system-cluster-critical") priority = 2'000'000'000;
  if (priority_class == "system-node-critical") priority = 2'000'001'000;
  set_if_absent(spec, "priority", priority);
  set_if_absent(spec, "preemptionPolicy", "PreemptLowerPriority");
}

// Admission looks at updates, too: these two always stand.
void prepare_for_update(json::Object& pod, const json::Value& old) {
  auto& spec = object_in(pod, "spec");
  for (const char* key : {"priority", "preemptionPolicy"})
    if (const auto* before = json::find(old, fmt::format("/spec/{}", key)))
      set_if_absent(spec, key, *before);
  add_toleration(spec, "node.kubernetes.io/not-ready");
  add_toleration(spec, "node.kubernetes.io/unreachable");
}

// --- quality of service

std::optional<json::Quantity> amount(const json::Value& container, std::string_view list,
                                     std::string_view resource) {
  const auto* found = json::find(container, fmt::format("/resources/{}/{}", list, resource));
  if (!found) return std::nullopt;
  const auto quantity = json::Quantity::from_json(*found);
  if (!quantity || quantity->sign() <= 0) return std::nullopt;
  return *quantity;
}

std::string_view quality_of(const json::Object& spec) {
  bool asks = false, guaranteed = true;
  for (const char* list : {"containers", "initContainers"}) {
    const auto* containers = spec.if_contains(list);
    if (!containers || !containers->is_array()) continue;
    for (const auto& container : containers->get_array())
      for (const char* resource : {"cpu", "memory"}) {
        const auto limit = amount(container, "limits", resource);
        const auto request = amount(container, "requests", resource);
        asks |= limit || request;
        guaranteed &= limit && (!request || *request == *limit);
      }
  }
  return !asks ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

void prepare_for_create(json::Object& pod, const RuleContext& context) {
  auto& status = object_in(pod, "status");
  status["phase"] = "Pending";
  status["qosClass"] = quality_of(object_in(pod, "spec"));
  const auto* gates = object_in(pod, "spec").if_contains("schedulingGates");
  if (gates && gates->is_array() && !gates->get_array().empty())
    status["conditions"] = json::Array{
        json::Object{{"type", "PodScheduled"},
                     {"status", "False"},
                     {"lastProbeTime", nullptr},
                     {"lastTransitionTime", json::render_time(context.now)},
                     {"reason", "SchedulingGated"},
                     {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
}

void prepare_for_status(json::Object& pod, const json::Value& old) {
  auto& metadata = object_in(pod, "metadata");
  if (const auto* owners = json::find(old, "/metadata/ownerReferences"))
    metadata["ownerReferences"] = *owners;
  else
    metadata.stable_erase("ownerReferences");
  auto& status = object_in(pod, "status");
  if (const auto* quality = json::find(old, "/status/qosClass"))
    set_if_absent(status, "qosClass", *quality);
  if (const auto* seen = json::find(old, "/status/observedGeneration"))
    set_if_absent(status, "observedGeneration", *seen);
}

// --- updates

constexpr std::string_view kMayChange =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

std::size_t count_of(const json::Value& pod, std::string_view pointer) {
  const auto list = json::array_at(pod, pointer);
  return list ? (*list)->size() : 0;
}

bool check_container_lists(const json::Value& pod, const json::Value& old, FieldErrors& errors) {
  for (const std::string_view list : {"containers", "initContainers"}) {
    const auto pointer = fmt::format("/spec/{}", list);
    if (count_of(pod, pointer) == count_of(old, pointer)) continue;
    errors.push_back(
        forbidden(fmt::format("spec.{}", list), "pod updates may not add or remove containers"));
    return false;
  }
  return true;
}

bool check_deadline(const json::Value& pod, const json::Value& old, FieldErrors& errors) {
  const auto now = json::integer_at(pod, "/spec/activeDeadlineSeconds");
  const auto before = json::integer_at(old, "/spec/activeDeadlineSeconds");
  if (now && before && *before < *now) {
    errors.push_back(invalid_value("spec.activeDeadlineSeconds", *now,
                                   "must be less than or equal to previous value"));
    return false;
  }
  if (!now && before)
    errors.push_back(invalid_value("spec.activeDeadlineSeconds", nullptr,
                                   "must not update from a positive integer to nil value"));
  return true;
}

// Those of before are there, but for how long they hold.
void check_tolerations(const json::Value& pod, const json::Value& old, FieldErrors& errors) {
  const auto before = json::array_at(old, "/spec/tolerations");
  if (!before) return;
  const auto now = json::array_at(pod, "/spec/tolerations");
  const auto plain = [](json::Value one) {
    json::remove(one, "/tolerationSeconds");
    return one;
  };
  for (const auto& one : **before) {
    const bool kept = now && std::any_of((*now)->begin(), (*now)->end(), [&](const auto& other) {
                        return json::equal(plain(one), plain(other));
                      });
    if (kept) continue;
    errors.push_back(forbidden("spec.tolerations",
                               "existing toleration can not be modified except its "
                               "tolerationSeconds"));
    return;
  }
}

// The spec with what may change taken from the old one.
json::Value masked(const json::Value& pod, const json::Value& old) {
  json::Value spec = *json::find(pod, "/spec");
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (std::size_t i = 0; i < count_of(pod, fmt::format("/spec/{}", list)); ++i) {
      const auto* image = json::find(old, fmt::format("/spec/{}/{}/image", list, i));
      if (image) (void)json::put(spec, fmt::format("/{}/{}/image", list, i), *image);
    }
  }
  for (const char* name : {"activeDeadlineSeconds", "schedulingGates", "tolerations"}) {
    spec.as_object().erase(name);
    if (const auto* before = json::find(old, fmt::format("/spec/{}", name)))
      spec.as_object()[name] = *before;
  }
  const auto before = json::integer_at(old, "/spec/terminationGracePeriodSeconds").value_or(0);
  const auto now = json::integer_at(spec, "/terminationGracePeriodSeconds").value_or(0);
  if (before < 0 && now == 1) spec.as_object()["terminationGracePeriodSeconds"] = before;
  return spec;
}

void validate_update(const json::Value& pod, const json::Value& old, FieldErrors& errors) {
  if (!check_container_lists(pod, old, errors)) return;
  if (!check_deadline(pod, old, errors)) return;
  check_tolerations(pod, old, errors);
  if (same_at(pod, old, "/spec")) return;
  const auto* before = json::find(old, "/spec");
  if (before && !json::equal(masked(pod, old), *before))
    errors.push_back(forbidden("spec", std::string(kMayChange) + "\n"));
}

void validate(const json::Value& pod, FieldErrors& errors) {
  static const json::Value kNothing = json::Object{};
  const auto* spec = member(pod, "spec");
  validate_pod_spec(spec ? *spec : kNothing, "spec", errors);
}

void validate_status(const json::Value& pod, const json::Value& old, FieldErrors& errors) {
  static constexpr std::array<std::string_view, 3> kOwn = {"PodScheduled", "Ready", "Initialized"};
  const auto* status = member(pod, "status");
  if (!status) return;
  for_each_at(*status, "conditions", "status",
              [&](const json::Value& condition, const std::string& path) {
                const auto type = text_in(condition, "type");
                if (std::find(kOwn.begin(), kOwn.end(), type) == kOwn.end())
                  check_name(errors, path + ".Type", type, check_qualified_name);
              });
  if (!same_at(pod, old, "/status/qosClass"))
    errors.push_back(invalid_value("status.qosClass",
                                   json::Value(json::text_or(pod, "/status/qosClass", "")),
                                   "field is immutable"));
  for_each_at(*status, "podIPs", "status", [&](const json::Value& one, const std::string& path) {
    if (const auto ip = text_in(one, "ip"); !is_ip_address(ip))
      errors.push_back(invalid_value(
          path, json::Value(ip), "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
  });
}

std::vector<std::string> warnings(const json::Value& pod, const json::Value* old) {
  if (old) return {};
  const auto problems = check_dns_label(json::text_or(pod, "/metadata/name", ""));
  if (problems.empty()) return {};
  return {fmt::format(
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; "
      "a DNS label is recommended: [{}]",
      fmt::join(problems, " "))};
}

}  // namespace

const BuiltinKind kPodRules = {
    .api_version = "v1",
    .kind = "Pod",
    .counts_generation = true,
    .status_reset = {"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"},
    .set_defaults = set_defaults,
    .admit = admit,
    .prepare_for_create = prepare_for_create,
    .prepare_for_update = prepare_for_update,
    .prepare_for_status = prepare_for_status,
    .validate = validate,
    .validate_update = validate_update,
    .validate_status = validate_status,
    .warnings = warnings,
};

}  // namespace quorate::apiserver

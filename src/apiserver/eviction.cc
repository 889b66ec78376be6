// Verbs: the subresources of Pods that are verbs of their own, eviction and binding.

#include <fmt/format.h>

#include <utility>

#include "apiserver/metadata.h"
#include "apiserver/verbs.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

json::Value created_status() {
  return json::Object{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", json::Object()},
                      {"status", "Success"},
                      {"code", 201}};
}

bool is_ready(const json::Value& pod) {
  if (const auto conditions = json::array_at(pod, "/status/conditions"))
    for (const auto& condition : **conditions)
      if (json::text_or(condition, "/type", "") == "Ready")
        return json::text_or(condition, "/status", "") == "True";
  return false;
}

// Replaces the condition of that type, or adds it.
void set_condition(json::Value& object, json::Object condition) {
  auto& status = object.as_object()["status"];
  if (!status.is_object()) status = json::Object();
  auto& conditions = status.get_object()["conditions"];
  if (!conditions.is_array()) conditions = json::Array();
  for (auto& existing : conditions.get_array())
    if (json::text_or(existing, "/type", "") == condition["type"].as_string()) {
      if (json::text_or(existing, "/status", "") == condition["status"].as_string())
        if (const auto* since = json::find(existing, "/lastTransitionTime"))
          condition["lastTransitionTime"] = *since;
      existing = std::move(condition);
      return;
    }
  conditions.get_array().push_back(std::move(condition));
}

Refusal too_many_requests(std::string why, std::optional<int> retry_after) {
  json::Object details{
      {"causes", json::Array{{{"reason", "DisruptionBudget"}, {"message", std::move(why)}}}}};
  if (retry_after) details["retryAfterSeconds"] = *retry_after;
  return {.code = 429,
          .reason = "TooManyRequests",
          .message = "Cannot evict pod as it would violate the pod's disruption budget.",
          .details = std::move(details),
          .retry_after_seconds = retry_after};
}

std::string being_processed(std::string_view budget) {
  return fmt::format("The disruption budget {} is still being processed by the server.", budget);
}

// Refuses what the budget does not allow; otherwise notes the disruption in its status.
Outcome<void> charge(json::Value& budget, const std::string& pod, WallTime now) {
  const std::string name(name_of(budget));
  const auto number = [&](const char* at) { return json::integer_at(budget, at).value_or(0); };
  if (number("/status/observedGeneration") < number("/metadata/generation"))
    return fail(too_many_requests(being_processed(name), 10));
  const auto allowed = number("/status/disruptionsAllowed");
  if (allowed < 0)
    return fail(
        forbidden({"policy", "poddisruptionbudget"}, name, "pdb disruptions allowed is negative"));
  if (allowed == 0)
    return fail(too_many_requests(
        fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", name,
                    number("/status/desiredHealthy"), number("/status/currentHealthy")),
        {}));
  (void)json::put(budget, "/status/disruptionsAllowed", allowed - 1);
  (void)json::put(budget, "/status/disruptedPods/" + json::escape_pointer(pod),
                  json::Value(json::render_time(now)));
  if (allowed == 1)
    set_condition(budget, {{"type", "DisruptionAllowed"},
                           {"status", "False"},
                           {"observedGeneration", number("/status/observedGeneration")},
                           {"lastTransitionTime", json::render_time(now)},
                           {"reason", "InsufficientPods"},
                           {"message", ""}});
  return {};
}

// Whether a Pod that is not ready may go without being counted.
bool unhealthy_may_go(const json::Value& budget) {
  if (json::text_or(budget, "/spec/unhealthyPodEvictionPolicy", "") == "AlwaysAllow") return true;
  const auto desired = json::integer_at(budget, "/status/desiredHealthy").value_or(0);
  return desired > 0 && json::integer_at(budget, "/status/currentHealthy").value_or(0) >= desired;
}

bool selects(const json::Value& budget, const json::Value& pod) {
  const auto* given = json::find(budget, "/spec/selector");
  if (!given) return false;
  const auto selector = json::LabelSelector::from_json(*given);
  if (!selector) return false;
  const auto find_label = [&](std::string_view key) -> std::optional<std::string_view> {
    const auto value = json::text_at(pod, "/metadata/labels/" + json::escape_pointer(key));
    return value ? std::optional(*value) : std::nullopt;
  };
  return selector->matches(find_label);
}

}  // namespace

Outcome<json::Value> Verbs::evict(const ObjectKey& key, const DeleteOptions& options) {
  const auto& pods = *registry_.built_in().pods;
  TRY(const auto found, get(pods, key));
  const auto& pod = *found;
  const auto phase = json::text_or(pod, "/status/phase", "");
  const bool counts =
      phase != "Succeeded" && phase != "Failed" && phase != "Pending" && !is_deleting(pod);
  std::string spared_by;  // the budget that lets a Pod go because it is not healthy
  if (counts) {
    TRY(spared_by, charge_budget(key, pod, options.dry_run));
  }
  auto deletion = options;
  if (!options.dry_run) {
    const auto met = check_preconditions(pods, pod, options);
    // Somebody else may have changed the Pod since the budget was asked.
    if (!met && !spared_by.empty() && !options.resource_version)
      return fail(too_many_requests(being_processed(spared_by), 10));
    TRY(met);
    auto target = pod;
    set_condition(target, {{"type", "DisruptionTarget"},
                           {"status", "True"},
                           {"lastProbeTime", nullptr},
                           {"lastTransitionTime", json::render_time(runtime_.clock->wall())},
                           {"reason", "EvictionByEvictionAPI"},
                           {"message", "Eviction API: evicting"}});
    if (!json::equal(target, pod)) target = storage_.update(pods, key, std::move(target))->value();
    if (options.resource_version) deletion.resource_version = std::string(version_of(target));
  }
  TRY(remove(pods, key, deletion));
  return created_status();
}

// Notes the disruption in the budget that guards the Pod, if there is one and it counts the Pod; if
// it does not, its name.
Outcome<std::string> Verbs::charge_budget(const ObjectKey& key, const json::Value& pod,
                                          bool dry_run) {
  const auto& budgets = *registry_.built_in().disruption_budgets;
  std::vector<json::Value> guarding;
  for (const auto& [budget_key, record] : storage_.objects(budgets)) {
    if (budget_key.ns != key.ns) continue;
    auto budget = record->value();
    if (selects(budget, pod)) guarding.push_back(std::move(budget));
  }
  if (guarding.size() > 1)
    return fail(Refusal{.code = 500,
                        .reason = "",
                        .message = "This pod has more than one PodDisruptionBudget, which the "
                                   "eviction subresource does not support.",
                        .details = {},
                        .retry_after_seconds = {}});
  if (guarding.empty()) return std::string();
  auto& budget = guarding[0];
  if (!is_ready(pod) && unhealthy_may_go(budget)) return std::string(name_of(budget));
  TRY(charge(budget, key.name, runtime_.clock->wall()));
  WriteOptions options{.manager = "kube-apiserver", .subresource = "status", .dry_run = dry_run};
  const ObjectKey budget_key{key.ns, std::string(name_of(budget))};
  TRY(update(budgets, budget_key, std::move(budget), options));
  return std::string();
}

Outcome<json::Value> Verbs::bind(const ObjectKey& key, const json::Value& binding,
                                 const WriteOptions& options) {
  const auto& pods = *registry_.built_in().pods;
  const ResourceName resource{"", "pods/binding"};
  if (!name_of(binding).empty() && name_of(binding) != key.name)
    return fail(bad_request("name in URL does not match name in Binding object"));
  const std::string node(json::text_or(binding, "/target/name", ""));
  if (node.empty())
    return fail(Refusal{.code = 500,
                        .reason = "",
                        .message = "target.name: Required value",
                        .details = {},
                        .retry_after_seconds = {}});
  TRY(const auto found, get(pods, key));
  auto pod = *found;
  if (is_deleting(pod))
    return fail(
        conflict(resource, key.name,
                 fmt::format("pod {} is being deleted, cannot be assigned to a host", key.name)));
  const auto bound = json::text_or(pod, "/spec/nodeName", "");
  if (!bound.empty())
    return fail(
        conflict(resource, key.name,
                 fmt::format("pod {} is already assigned to node \"{}\"", key.name, bound)));
  (void)json::put(pod, "/spec/nodeName", json::Value(node));
  set_condition(pod, {{"type", "PodScheduled"},
                      {"status", "True"},
                      {"lastProbeTime", nullptr},
                      {"lastTransitionTime", json::render_time(runtime_.clock->wall())}});
  if (!options.dry_run) storage_.update(pods, key, std::move(pod));
  return created_status();
}

}  // namespace quorate::apiserver

#include "apiserver/controller_nodes.h"

#include <algorithm>

#include "apiserver/controller_objects.h"
#include "apiserver/controller_placement.h"
#include "apiserver/metadata.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";
constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";
constexpr std::string_view kOutOfService = "node.kubernetes.io/out-of-service";
constexpr std::string_view kLeases = "kube-node-lease";

const json::Array& taints_of(const json::Value& node) {
  static const json::Array kNone;
  const auto found = json::array_at(node, "/spec/taints");
  return found ? **found : kNone;
}

bool has_taint(const json::Value& node, std::string_view key, std::string_view effect) {
  const auto& taints = taints_of(node);
  return std::any_of(taints.begin(), taints.end(), [&](const json::Value& taint) {
    return json::text_or(taint, "/key", "") == key &&
           (effect.empty() || json::text_or(taint, "/effect", "") == effect);
  });
}

// How long a Pod stays beside a taint: nothing if it does not tolerate it, the largest number for
// ever.
std::optional<std::chrono::seconds> tolerated_for(const json::Value& pod,
                                                  const json::Value& taint) {
  std::optional<std::chrono::seconds> shortest;
  const auto all = json::array_at(pod, "/spec/tolerations");
  for (const auto& one : all ? **all : json::Array{}) {
    json::Value alone = json::Object{{"spec", {{"tolerations", json::Array{one}}}}};
    if (!tolerates(alone, taint)) continue;
    const auto seconds = json::integer_at(one, "/tolerationSeconds");
    const auto time = seconds ? std::chrono::seconds(std::max<std::int64_t>(*seconds, 0))
                              : std::chrono::seconds::max();
    shortest = std::min(shortest.value_or(time), time);
  }
  return shortest;
}

}  // namespace

NodeController::NodeController(rt::Runtime runtime, Verbs& verbs, NodeTiming timing)
    : Controller(runtime, verbs, "node-controller"), timing_(timing) {}

void NodeController::note(const Change& change) {
  if (&change.kind() == kinds().nodes) {
    mark(change.work());
    for (const auto& key : pods_on(change.key().name)) mark({kinds().pods, key});
  } else if (&change.kind() == kinds().leases && change.key().ns == kLeases) {
    mark({kinds().nodes, {"", change.key().name}});
  } else if (&change.kind() == kinds().pods) {
    if (change.deleted())
      orphaned_.erase(change.work());
    else
      mark(change.work());
  }
}

std::vector<ObjectKey> NodeController::pods_on(const std::string& node) {
  std::vector<ObjectKey> out;
  const auto sought =
      "\"nodeName\":" + quoted(node);  // most Pods are elsewhere: look before reading
  for (const auto& [key, record] : objects(*kinds().pods))
    if (record->text.find(sought) != std::string::npos && node_of(*record->decoded()) == node)
      out.push_back(key);
  return out;
}

void NodeController::reconcile(const WorkKey& work) {
  const auto object = look_at(*work.kind, work.key);
  if (!object) return;
  if (work.kind == kinds().nodes)
    reconcile_node(work, *object);
  else
    reconcile_pod(work, *object);
}

// --- nodes

std::optional<WallTime> NodeController::heartbeat(const json::Value& node) {
  std::optional<WallTime> last = time_at(node, "/metadata/creationTimestamp");
  if (const auto* ready = find_condition(node, "Ready"))
    if (const auto time = time_at(*ready, "/lastHeartbeatTime"))
      last = std::max(last.value_or(*time), *time);
  const auto lease = look_at(*kinds().leases, {std::string(kLeases), std::string(name_of(node))});
  if (lease)
    if (const auto time = time_at(*lease, "/spec/renewTime"))
      last = std::max(last.value_or(*time), *time);
  return last;
}

void NodeController::reconcile_node(const WorkKey& work, const json::Value& node) {
  const auto last = heartbeat(node);
  const auto silent = last ? Duration(now() - *last) : timing_.grace;
  if (silent >= timing_.grace) {
    if (!has_condition(node, "Ready", "Unknown")) {
      mark_unknown(work, node);
      if (const auto fresh = look_at(*work.kind, work.key)) set_taints(work, *fresh);
      return;
    }
  } else {
    mark_after(work, timing_.grace - silent);
  }
  set_taints(work, node);
}

void NodeController::mark_unknown(const WorkKey& work, json::Value node) {
  for (const std::string_view type : {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}) {
    const auto* before = find_condition(node, type);
    const bool posted = before != nullptr;
    json::Object condition{{"type", type},
                           {"status", "Unknown"},
                           {"reason", posted ? "NodeStatusUnknown" : "NodeStatusNeverUpdated"},
                           {"message", posted ? "Kubelet stopped posting node status."
                                              : "Kubelet never posted node status."}};
    condition["lastHeartbeatTime"] =
        posted ? json::Value(json::text_or(*before, "/lastHeartbeatTime", ""))
               : json::Value(json::text_or(node, "/metadata/creationTimestamp", ""));
    put_condition(node, std::move(condition), now());
  }
  change_status(work, node);
  tell(node, "Normal", "NodeNotReady",
       "Node " + std::string(name_of(node)) + " status is now: NodeNotReady");
  make_pods_unready(work.key.name);
}

// The taints that follow the node's state; those of others stay.
void NodeController::set_taints(const WorkKey& work, const json::Value& node) {
  const bool ready = has_condition(node, "Ready", "True");
  const bool unknown = has_condition(node, "Ready", "Unknown");
  const std::string_view wanted = ready ? "" : unknown ? kUnreachable : kNotReady;
  json::Array taints;
  for (const auto& taint : taints_of(node)) {
    const auto key = json::text_or(taint, "/key", "");
    if (key == wanted || (key != kNotReady && key != kUnreachable && key != kUnschedulable))
      taints.push_back(taint);
  }
  const auto add = [&](std::string_view key, std::string_view effect) {
    const bool there = std::any_of(taints.begin(), taints.end(), [&](const json::Value& taint) {
      return json::text_or(taint, "/key", "") == key &&
             json::text_or(taint, "/effect", "") == effect;
    });
    if (!there)
      taints.push_back({{"key", key}, {"effect", effect}, {"timeAdded", json::render_time(now())}});
  };
  if (!wanted.empty()) {
    add(wanted, "NoSchedule");
    add(wanted, "NoExecute");
  }
  if (json::flag_at(node, "/spec/unschedulable").value_or(false)) {
    for (const auto& taint : taints_of(node))
      if (json::text_or(taint, "/key", "") == kUnschedulable) taints.push_back(taint);
    add(kUnschedulable, "NoSchedule");
  }
  if (json::equal(json::Value(taints), json::Value(taints_of(node)))) return;
  auto changed = node;
  if (taints.empty())
    json::remove(changed, "/spec/taints");
  else
    (void)json::put(changed, "/spec/taints", std::move(taints));
  change(work, std::move(changed));
}

void NodeController::make_pods_unready(const std::string& node) {
  for (const auto& key : pods_on(node)) {
    auto pod = find(*kinds().pods, key);
    if (!pod || !has_condition(*pod, "Ready", "True")) continue;
    auto condition = find_condition(*pod, "Ready")->as_object();
    condition["status"] = "False";
    put_condition(*pod, std::move(condition), now());
    change_status({kinds().pods, key}, std::move(*pod));
  }
}

// --- Pods

void NodeController::reconcile_pod(const WorkKey& work, const json::Value& pod) {
  const std::string name(node_of(pod));
  if (name.empty()) {
    if (is_deleting(pod)) force_delete(work, pod);
    return;
  }
  const auto node = look_at(*kinds().nodes, {"", name});
  if (!node) {
    const auto since = orphaned_.emplace(work, now()).first->second;
    const auto waited = Duration(now() - since);
    if (waited < timing_.orphan) return mark_after(work, timing_.orphan - waited);
    return force_delete(work, pod);
  }
  orphaned_.erase(work);
  if (is_deleting(pod)) {
    if (has_taint(*node, kOutOfService, "") && !has_condition(*node, "Ready", "True"))
      force_delete(work, pod);
    return;
  }
  evict_if_due(work, pod, *node);
}

void NodeController::evict_if_due(const WorkKey& work, const json::Value& pod,
                                  const json::Value& node) {
  if (is_pod_finished(pod)) return;
  std::optional<WallTime> due;
  for (const auto& taint : taints_of(node)) {
    if (json::text_or(taint, "/effect", "") != "NoExecute") continue;
    const auto time = tolerated_for(pod, taint);
    if (time && *time == std::chrono::seconds::max()) continue;
    const auto added = time_at(taint, "/timeAdded").value_or(now());
    const auto end = added + time.value_or(std::chrono::seconds(0));
    due = due ? std::min(*due, WallTime(end)) : WallTime(end);
  }
  if (!due) return;
  if (now() < *due) return mark_after(work, *due - now());
  tell(pod, "Normal", "TaintManagerEviction",
       "Marking for deletion Pod " + work.key.ns + "/" + work.key.name);
  DeleteOptions options;
  options.uid = std::string(uid_of(pod));
  (void)verbs().remove(*work.kind, work.key, options);
}

// For Pods whose node will never say that they have ended.
void NodeController::force_delete(const WorkKey& work, const json::Value& pod) {
  DeleteOptions options;
  options.uid = std::string(uid_of(pod));
  options.grace_seconds = 0;
  (void)verbs().remove(*work.kind, work.key, options);
}

}  // namespace quorate::apiserver

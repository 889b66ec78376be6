#include "apiserver/controller_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>

#include "apiserver/controller_objects.h"
#include "apiserver/controller_placement.h"
#include "apiserver/controller_spread.h"
#include "apiserver/metadata.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

constexpr std::string_view kScheduler = "default-scheduler";
constexpr std::string_view kSelectedNode =
    "/metadata/annotations/volume.kubernetes.io~1selected-node";
constexpr std::chrono::minutes kLookAgain(5);

bool is_waiting(const json::Value& pod) {
  const auto gates = json::array_at(pod, "/spec/schedulingGates");
  return node_of(pod).empty() && !is_deleting(pod) && !is_pod_finished(pod) &&
         json::text_or(pod, "/spec/schedulerName", "") == kScheduler &&
         (!gates || (*gates)->empty());
}

const json::Array& list_at(const json::Value& object, std::string_view pointer) {
  static const json::Array kNone;
  const auto found = json::array_at(object, pointer);
  return found ? **found : kNone;
}

// The terms of a Pod's anti-affinity; weighted ones hold theirs inside.
const json::Array& repulsions(const json::Value& pod, bool required) {
  return list_at(pod, required ? "/spec/affinity/podAntiAffinity/"
                                 "requiredDuringSchedulingIgnoredDuringExecution"
                               : "/spec/affinity/podAntiAffinity/"
                                 "preferredDuringSchedulingIgnoredDuringExecution");
}

std::string label_of(const json::Value& node, std::string_view key) {
  return std::string(json::text_or(node, "/metadata/labels/" + json::escape_pointer(key), ""));
}

// "0/3 nodes are available: 1 node(s) ..., 2 Insufficient cpu."
std::string summary(std::size_t nodes, const std::map<std::string, int>& reasons) {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : reasons) parts.push_back(fmt::format("{} {}", count, reason));
  std::sort(parts.begin(), parts.end());
  if (parts.empty())
    return fmt::format("0/{} nodes are available: no nodes available to schedule pods.", nodes);
  return fmt::format("0/{} nodes are available: {}.", nodes, fmt::join(parts, ", "));
}

}  // namespace

Scheduler::Scheduler(rt::Runtime runtime, Verbs& verbs)
    : Controller(runtime, verbs, std::string(kScheduler)) {}

void Scheduler::note(const Change& change) {
  const auto* kind = &change.kind();
  if (kind == kinds().pods) {
    waiting_.erase(change.work());
    if (change.deleted() || !is_waiting(change.object())) assumed_.erase(change.work());
    if (!change.deleted() && is_waiting(change.object())) {
      waiting_.insert(change.work());
      return mark(change.work());
    }
    const bool leaves_room = change.deleted() || is_pod_finished(change.object());
    if (!leaves_room) return;
  } else if (kind != kinds().nodes && kind != kinds().claims && kind != kinds().volumes &&
             kind != kinds().storage_classes) {
    return;
  }
  // Room, nodes or volumes: those who wait may have a place now.
  for (const auto& work : waiting_) mark(work);
}

std::vector<Placed> Scheduler::placed_pods(const WorkKey& but) {
  std::vector<Placed> out;
  for (const auto& [key, record] : objects(*kinds().pods)) {
    if (key == but.key) continue;
    auto pod = record->value();
    std::string node(node_of(pod));
    if (const auto assumed = assumed_.find({kinds().pods, key}); assumed != assumed_.end())
      node = assumed->second;
    if (node.empty() || is_pod_finished(pod)) continue;
    out.push_back({std::move(pod), std::move(node)});
  }
  return out;
}

std::string Scheduler::find_obstacle(const json::Value& pod, const std::string& ns) {
  for (const auto& name : claims_of(pod)) {
    const auto claim = look_at(*kinds().claims, {ns, name});
    if (!claim) return fmt::format("persistentvolumeclaim \"{}\" not found", name);
    if (is_deleting(*claim))
      return fmt::format("persistentvolumeclaim \"{}\" is being deleted", name);
    if (json::text_or(*claim, "/status/phase", "") == "Lost")
      return fmt::format(
          "persistentvolumeclaim \"{}\" bound to non-existent persistentvolume "
          "\"{}\"",
          name, json::text_or(*claim, "/spec/volumeName", ""));
    if (!json::text_or(*claim, "/spec/volumeName", "").empty()) continue;
    const auto storage_class =
        look_at(*kinds().storage_classes,
                {"", std::string(json::text_or(*claim, "/spec/storageClassName", ""))});
    if (!storage_class ||
        json::text_or(*storage_class, "/volumeBindingMode", "") != "WaitForFirstConsumer")
      return "pod has unbound immediate PersistentVolumeClaims";
  }
  return "";
}

bool Scheduler::reaches_volumes(const json::Value& pod, const json::Value& node) {
  const std::string ns(namespace_of(pod));
  for (const auto& name : claims_of(pod)) {
    const auto claim = look_at(*kinds().claims, {ns, name});
    if (!claim) return false;
    // A volume that is being made for a node keeps the Pod there.
    const auto chosen = json::text_or(*claim, kSelectedNode, "");
    const auto volume = json::text_or(*claim, "/spec/volumeName", "");
    if (volume.empty()) {
      if (!chosen.empty() && chosen != name_of(node) &&
          find(*kinds().nodes, {"", std::string(chosen)}))
        return false;
      continue;
    }
    const auto bound = look_at(*kinds().volumes, {"", std::string(volume)});
    if (!bound || !volume_fits(*bound, node)) return false;
  }
  return true;
}

bool Scheduler::is_kept_apart(const json::Value& pod, const json::Value& node,
                              const std::vector<Placed>& placed) {
  const auto clashes = [&](const json::Value& who, const json::Value& other,
                           const std::string& other_node) {
    for (const auto& term : repulsions(who, true)) {
      if (namespace_of(who) != namespace_of(other) || !selects(term, "/labelSelector", other))
        continue;
      const auto key = json::text_or(term, "/topologyKey", "");
      const auto there = look_at(*kinds().nodes, {"", other_node});
      if (there && !label_of(node, key).empty() && label_of(node, key) == label_of(*there, key))
        return true;
    }
    return false;
  };
  return std::any_of(placed.begin(), placed.end(), [&](const Placed& other) {
    return clashes(pod, other.pod, other.node) || clashes(other.pod, pod, other.node);
  });
}

std::string Scheduler::refuse(const json::Value& pod, const json::Value& node,
                              const std::vector<Placed>& placed) {
  if (json::flag_at(node, "/spec/unschedulable").value_or(false))
    return "node(s) were unschedulable";
  for (const std::string_view effect : {"NoSchedule", "NoExecute"})
    for (const auto& taint : list_at(node, "/spec/taints"))
      if (json::text_or(taint, "/effect", "") == effect && !tolerates(pod, taint))
        return fmt::format("node(s) had untolerated taint {{{}: {}}}",
                           json::text_or(taint, "/key", ""), json::text_or(taint, "/value", ""));
  if (!has_condition(node, "Ready", "True")) return "node(s) were not ready";
  if (!node_selected(pod, node)) return "node(s) didn't match Pod's node affinity/selector";
  if (!reaches_volumes(pod, node)) return "node(s) had volume node affinity conflict";
  Demand used{0, 0, 0};
  for (const auto& other : placed)
    if (other.node == name_of(node)) used += demand_of(other.pod);
  used += demand_of(pod);
  const auto capacity = capacity_of(node);
  if (used.pods > capacity.pods) return "Too many pods";
  if (used.millis > capacity.millis) return "Insufficient cpu";
  if (used.bytes > capacity.bytes) return "Insufficient memory";
  if (is_kept_apart(pod, node, placed)) return "node(s) didn't match pod anti-affinity rules";
  return "";
}

// Pods on the node (or in its part of the topology) that the Pod would rather not be with: those
// that its preferred rules name, and those that have the same controller.
int Scheduler::count_alike(const json::Value& pod, const json::Value& node,
                           const std::vector<Placed>& placed) {
  int count = 0;
  for (const auto& other : placed) {
    if (namespace_of(other.pod) != namespace_of(pod)) continue;
    const auto owner = controller_uid(pod);
    if (other.node == name_of(node) && !owner.empty() && controller_uid(other.pod) == owner)
      ++count;
    for (const auto& weighted : repulsions(pod, false)) {
      if (!selects(weighted, "/podAffinityTerm/labelSelector", other.pod)) continue;
      const auto key = json::text_or(weighted, "/podAffinityTerm/topologyKey", "");
      const auto there = look_at(*kinds().nodes, {"", other.node});
      if (there && !label_of(node, key).empty() && label_of(node, key) == label_of(*there, key))
        ++count;
    }
    for (const auto& spread : list_at(pod, "/spec/topologySpreadConstraints")) {
      if (!selects(spread, "/labelSelector", other.pod)) continue;
      const auto key = json::text_or(spread, "/topologyKey", "");
      const auto there = look_at(*kinds().nodes, {"", other.node});
      if (there && !label_of(node, key).empty() && label_of(node, key) == label_of(*there, key))
        ++count;
    }
  }
  return count;
}

bool Scheduler::choose_for_claims(const json::Value& pod, const std::string& ns,
                                  const std::string& node) {
  bool bound = true;
  for (const auto& name : claims_of(pod)) {
    const WorkKey work{kinds().claims, {ns, name}};
    auto claim = find(*work.kind, work.key);
    if (!claim) return false;
    if (json::text_or(*claim, "/status/phase", "") == "Bound") continue;
    bound = false;
    if (!json::text_or(*claim, "/spec/volumeName", "").empty()) continue;
    (void)json::put(*claim, kSelectedNode, json::Value(node));
    change(work, std::move(*claim));
  }
  return bound;
}

void Scheduler::give_up(const WorkKey& work, json::Value pod, const std::string& message) {
  mark_after(work, kLookAgain);
  const auto* before = find_condition(pod, "PodScheduled");
  const bool said = before && json::text_or(*before, "/message", "") == message;
  if (said) return;
  put_condition(pod,
                {{"type", "PodScheduled"},
                 {"status", "False"},
                 {"observedGeneration", json::integer_at(pod, "/metadata/generation").value_or(0)},
                 {"lastProbeTime", nullptr},
                 {"reason", "Unschedulable"},
                 {"message", message}},
                now());
  const auto told = pod;
  change_status(work, std::move(pod));
  tell(told, "Warning", "FailedScheduling", message);
}

void Scheduler::reconcile(const WorkKey& work) {
  auto pod = find(*work.kind, work.key);
  if (!pod || !is_waiting(*pod)) return;
  const auto& nodes = objects(*kinds().nodes);
  if (const auto obstacle = find_obstacle(*pod, work.key.ns); !obstacle.empty())
    return give_up(work, std::move(*pod),
                   fmt::format("0/{} nodes are available: {}.", nodes.size(), obstacle));

  assumed_.erase(work);
  const auto placed = placed_pods(work);
  std::vector<json::Value> all;
  for (const auto& [key, record] : nodes) all.push_back(record->value());
  const Spread spread(*pod, all, placed);
  std::map<std::string, int> reasons;
  std::optional<std::tuple<int, std::int64_t, std::string>> best;
  for (const auto& node : all) {
    auto reason = refuse(*pod, node, placed);
    if (reason.empty()) reason = spread.refuse(node);
    if (!reason.empty()) {
      ++reasons[reason];
      continue;
    }
    const std::string name(name_of(node));
    const auto crowd = std::count_if(placed.begin(), placed.end(),
                                     [&](const Placed& other) { return other.node == name; });
    std::tuple score(count_alike(*pod, node, placed), static_cast<std::int64_t>(crowd), name);
    if (!best || score < *best) best = std::move(score);
  }
  if (!best) return give_up(work, std::move(*pod), summary(nodes.size(), reasons));
  const auto& node = std::get<2>(*best);
  assumed_[work] = node;
  if (!choose_for_claims(*pod, work.key.ns, node)) return;  // their binding marks the Pod again
  const json::Value binding{{"metadata", {{"name", work.key.name}, {"namespace", work.key.ns}}},
                            {"target", {{"kind", "Node"}, {"name", node}}}};
  if (verbs().bind(work.key, binding, as_writer()))
    tell(*pod, "Normal", "Scheduled",
         fmt::format("Successfully assigned {}/{} to {}", work.key.ns, work.key.name, node));
}

}  // namespace quorate::apiserver

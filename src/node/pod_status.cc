#include "node/pod_status.h"

#include "json/timestamp.h"

namespace quorate::node {
namespace {

void put_time(json::Object& out, std::string_view key, const std::optional<WallTime>& time) {
  if (time) out[key] = json::render_time(*time);
}

// Absent texts are null: a patch that leaves them out would keep the old ones.
json::Value text_or_null(const std::string& text) {
  return text.empty() ? json::Value(nullptr) : json::Value(text);
}

json::Object render_terminated(const Terminated& ended) {
  json::Object out;
  out["exitCode"] = ended.exit_code;
  if (ended.signal != 0) out["signal"] = ended.signal;
  if (!ended.reason.empty()) out["reason"] = ended.reason;
  if (!ended.message.empty()) out["message"] = ended.message;
  put_time(out, "startedAt", ended.started);
  put_time(out, "finishedAt", ended.finished);
  if (!ended.container_id.empty()) out["containerID"] = ended.container_id;
  return out;
}

json::Object render_state(const ContainerStatus& container) {
  json::Object out;
  if (const auto* waiting = container.waiting()) {
    json::Object facts{{"reason", waiting->reason}};
    if (!waiting->message.empty()) facts["message"] = waiting->message;
    out["waiting"] = std::move(facts);
  } else if (const auto* running = container.running()) {
    out["running"] = json::Object{{"startedAt", json::render_time(running->since)}};
  } else if (const auto* ended = container.terminated()) {
    out["terminated"] = render_terminated(*ended);
  }
  return out;
}

json::Array render_containers(const std::vector<ContainerStatus>& containers) {
  json::Array out;
  for (const auto& container : containers) {
    json::Object one;
    one["name"] = container.name;
    one["image"] = container.image;
    one["imageID"] = container.container_id.empty() ? "" : container.image;
    if (!container.container_id.empty()) one["containerID"] = container.container_id;
    one["restartCount"] = container.restart_count;
    one["ready"] = container.ready;
    one["started"] = container.started;
    one["state"] = render_state(container);
    json::Object last;
    if (container.last) last["terminated"] = render_terminated(*container.last);
    one["lastState"] = std::move(last);
    out.push_back(std::move(one));
  }
  return out;
}

json::Array render_conditions(const PodStatus& status) {
  json::Array out;
  for (const auto& condition : status.conditions) {
    json::Object one;
    one["type"] = condition.type;
    one["status"] = condition.holds ? "True" : "False";
    one["reason"] = text_or_null(condition.reason);
    one["message"] = text_or_null(condition.message);
    one["lastProbeTime"] = nullptr;
    one["lastTransitionTime"] = json::render_time(condition.since);
    one["observedGeneration"] = status.observed_generation;
    out.push_back(std::move(one));
  }
  return out;
}

// Lists that are merged by address: the first element says that this one is the whole.
json::Array whole_list_of(const std::string& ip) {
  json::Array out;
  out.push_back(json::Object{{"$patch", "replace"}});
  if (!ip.empty()) out.push_back(json::Object{{"ip", ip}});
  return out;
}

}  // namespace

const PodCondition* PodStatus::find_condition(std::string_view type) const {
  for (const auto& condition : conditions)
    if (condition.type == type) return &condition;
  return nullptr;
}

const ContainerStatus* PodStatus::find_container(std::string_view name) const {
  for (const auto* list : {&init_containers, &containers})
    for (const auto& container : *list)
      if (container.name == name) return &container;
  return nullptr;
}

json::Value render_status_patch(const PodStatus& status, const Uid& uid) {
  json::Object out;
  out["observedGeneration"] = status.observed_generation;
  out["phase"] = status.phase;
  out["reason"] = text_or_null(status.reason);
  out["message"] = text_or_null(status.message);
  out["hostIP"] = text_or_null(status.host_ip);
  out["hostIPs"] = whole_list_of(status.host_ip);
  out["podIP"] = text_or_null(status.pod_ip);
  out["podIPs"] = whole_list_of(status.pod_ip);
  put_time(out, "startTime", status.start_time);
  out["conditions"] = render_conditions(status);
  if (!status.init_containers.empty())
    out["initContainerStatuses"] = render_containers(status.init_containers);
  out["containerStatuses"] = render_containers(status.containers);
  return json::Object{{"metadata", json::Object{{"uid", uid.value()}}}, {"status", std::move(out)}};
}

}  // namespace quorate::node

// Nodes, Events and Jobs as rows.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "apiserver/metadata.h"
#include "apiserver/table_cells.h"
#include "apiserver/table_printers.h"
#include "base/strings.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

std::string node_status(const json::Value& node) {
  const auto ready = condition_of(node, "Ready");
  std::string status = ready == "True" ? "Ready" : ready.empty() ? "Unknown" : "NotReady";
  if (json::flag_at(node, "/spec/unschedulable").value_or(false)) status += ",SchedulingDisabled";
  return status;
}

std::string node_roles(const json::Value& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  const auto* labels = json::find(node, "/metadata/labels");
  if (labels && labels->is_object())
    for (const auto& [key, value] : labels->get_object()) {
      const std::string_view name = key;
      if (name.starts_with(kPrefix)) roles.emplace(name.substr(kPrefix.size()));
      if (name == "kubernetes.io/role" && value.is_string()) roles.emplace(value.get_string());
    }
  roles.erase("");
  return or_else(fmt::format("{}", fmt::join(roles, ",")), "<none>");
}

std::string node_address(const json::Value& node, std::string_view type) {
  for (const auto& address : list_of(node, "/status/addresses"))
    if (json::text_or(address, "/type", "") == type) return text_of(address, "/address");
  return "<none>";
}

std::string event_object(const json::Value& event) {
  const auto kind = to_lower(json::text_or(event, "/involvedObject/kind", ""));
  const auto name = json::text_or(event, "/involvedObject/name", "");
  return name.empty() ? kind : fmt::format("{}/{}", kind, name);
}

std::string event_source(const json::Value& event) {
  const auto component =
      or_else(text_of(event, "/source/component"), json::text_or(event, "/reportingComponent", ""));
  const auto host =
      or_else(text_of(event, "/source/host"), json::text_or(event, "/reportingInstance", ""));
  return host.empty() ? component : fmt::format("{}, {}", component, host);
}

std::string job_status(const json::Value& job) {
  const auto holds = [&](std::string_view type) { return condition_of(job, type) == "True"; };
  for (const std::string_view end : {"Complete", "Failed"})
    if (holds(end)) return std::string(end);
  if (is_deleting(job)) return "Terminating";
  for (const std::string_view on_the_way : {"Suspended", "FailureTarget", "SuccessCriteriaMet"})
    if (holds(on_the_way)) return std::string(on_the_way);
  return "Running";
}

std::string job_completions(const json::Value& job) {
  const auto succeeded = number_of(job, "/status/succeeded");
  if (const auto wanted = json::integer_at(job, "/spec/completions"))
    return fmt::format("{}/{}", succeeded, *wanted);
  const auto parallelism = number_of(job, "/spec/parallelism");
  return parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism)
                         : fmt::format("{}/1", succeeded);
}

std::string job_duration(const json::Value& job, WallTime now) {
  const auto start = json::parse_time(json::text_or(job, "/status/startTime", ""));
  if (!start) return "";
  const auto end = json::parse_time(json::text_or(job, "/status/completionTime", ""));
  return human_duration((end ? *end : now) - *start);
}

std::string of_containers(const json::Value& job, std::string_view pointer) {
  std::vector<std::string> texts;
  for (const auto& container : list_of(job, "/spec/template/spec/containers"))
    texts.push_back(text_of(container, pointer));
  return join(texts, ",");
}

}  // namespace

Row print_node(const json::Value& node, WallTime now) {
  const auto known = [&](std::string_view pointer) {
    return or_else(text_of(node, pointer), "<unknown>");
  };
  return {.cells = {text_of(node, "/metadata/name"), node_status(node), node_roles(node),
                    age_of(node, now), text_of(node, "/status/nodeInfo/kubeletVersion"),
                    node_address(node, "InternalIP"), node_address(node, "ExternalIP"),
                    known("/status/nodeInfo/osImage"), known("/status/nodeInfo/kernelVersion"),
                    known("/status/nodeInfo/containerRuntimeVersion")}};
}

Row print_event(const json::Value& event, WallTime now) {
  const auto seen = [&](std::string_view pointer, std::string otherwise) {
    return json::text_at(event, pointer) ? time_since(event, pointer, now) : std::move(otherwise);
  };
  const auto first = seen("/firstTimestamp", time_since(event, "/eventTime", now));
  auto last = seen("/lastTimestamp", first);
  auto count = std::max<std::int64_t>(1, number_of(event, "/count"));
  if (const auto* series = json::find(event, "/series"); series && series->is_object()) {
    last = time_since(event, "/series/lastObservedTime", now);
    count = number_of(event, "/series/count");
  }
  return {.cells = {last, text_of(event, "/type"), text_of(event, "/reason"), event_object(event),
                    text_of(event, "/involvedObject/fieldPath"), event_source(event),
                    trim(json::text_or(event, "/message", "")), first, count,
                    text_of(event, "/metadata/name")}};
}

Row print_job(const json::Value& job, WallTime now) {
  return {.cells = {text_of(job, "/metadata/name"), job_status(job), job_completions(job),
                    job_duration(job, now), age_of(job, now), of_containers(job, "/name"),
                    of_containers(job, "/image"), selector_text(job, "/spec/selector")}};
}

}  // namespace quorate::apiserver

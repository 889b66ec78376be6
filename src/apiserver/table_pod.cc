// A Pod as a row: what its containers say, told in one word.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "apiserver/metadata.h"
#include "apiserver/table_cells.h"
#include "apiserver/table_printers.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

bool is_sidecar(const json::Value& pod, std::string_view name) {
  for (const auto& container : list_of(pod, "/spec/initContainers"))
    if (json::text_or(container, "/name", "") == name)
      return json::text_or(container, "/restartPolicy", "") == "Always";
  return false;
}

// How often containers were started again, and when the latest of them ended before.
struct Restarts {
  std::int64_t count = 0;
  std::optional<WallTime> last = {};

  void add(const json::Value& container) {
    count += number_of(container, "/restartCount");
    const auto text = json::text_at(container, "/lastState/terminated/finishedAt");
    if (!text) return;
    if (const auto time = json::parse_time(*text); time && (!last || *last < *time)) last = *time;
  }

  std::string text(WallTime now) const {
    if (count == 0 || !last) return fmt::to_string(count);
    return fmt::format("{} ({} ago)", count, human_duration(now - *last));
  }
};

std::string how_it_ended(const json::Value& container) {
  auto reason = text_of(container, "/state/terminated/reason");
  if (!reason.empty()) return reason;
  const auto signal = number_of(container, "/state/terminated/signal");
  return signal ? fmt::format("Signal:{}", signal)
                : fmt::format("ExitCode:{}", number_of(container, "/state/terminated/exitCode"));
}

// Reads the statuses of the containers one after the other.
class Summary {
 public:
  explicit Summary(const json::Value& pod) : pod_(pod) {
    total_ = size_of(pod, "/spec/containers");
    for (const auto& container : list_of(pod, "/spec/initContainers"))
      if (json::text_or(container, "/restartPolicy", "") == "Always") ++total_;
    reason_ = or_else(text_of(pod, "/status/reason"), json::text_or(pod, "/status/phase", ""));
    for (const auto& condition : list_of(pod, "/status/conditions"))
      if (json::text_or(condition, "/type", "") == "PodScheduled" &&
          json::text_or(condition, "/reason", "") == "SchedulingGated")
        reason_ = "SchedulingGated";
    const bool initializing = look_at_init_containers();
    if (!initializing || condition_of(pod, "Initialized") == "True") look_at_containers();
    if (is_deleting(pod)) look_at_end();
  }

  std::string ready() const { return fmt::format("{}/{}", ready_, total_); }
  const std::string& reason() const { return reason_; }
  const Restarts& restarts() const { return restarts_; }

 private:
  // Up to the first that has not done its work; whether there is one.
  bool look_at_init_containers() {
    std::size_t at = 0;
    for (const auto& container : list_of(pod_, "/status/initContainerStatuses")) {
      const bool sidecar = is_sidecar(pod_, json::text_or(container, "/name", ""));
      restarts_.add(container);
      if (sidecar) sidecar_restarts_.add(container);
      const bool ended = json::find(container, "/state/terminated") != nullptr;
      if (ended && number_of(container, "/state/terminated/exitCode") == 0) {
        ++at;
      } else if (sidecar && json::flag_at(container, "/started").value_or(false)) {
        if (json::flag_at(container, "/ready").value_or(false)) ++ready_;
        ++at;
      } else {
        const auto waits = text_of(container, "/state/waiting/reason");
        if (ended)
          reason_ = "Init:" + how_it_ended(container);
        else if (!waits.empty() && waits != "PodInitializing")
          reason_ = "Init:" + waits;
        else
          reason_ = fmt::format("Init:{}/{}", at, size_of(pod_, "/spec/initContainers"));
        return true;
      }
    }
    return false;
  }

  void look_at_containers() {
    restarts_ = sidecar_restarts_;
    bool running = false;
    const auto& containers = list_of(pod_, "/status/containerStatuses");
    for (auto container = containers.rbegin(); container != containers.rend(); ++container) {
      restarts_.add(*container);
      const auto waits = text_of(*container, "/state/waiting/reason");
      if (!waits.empty()) {
        reason_ = waits;
      } else if (json::find(*container, "/state/terminated")) {
        reason_ = how_it_ended(*container);
      } else if (json::flag_at(*container, "/ready").value_or(false) &&
                 json::find(*container, "/state/running")) {
        running = true;
        ++ready_;
      }
    }
    if (reason_ == "Completed" && running)
      reason_ = condition_of(pod_, "Ready") == "True" ? "Running" : "NotReady";
  }

  void look_at_end() {
    const auto phase = json::text_or(pod_, "/status/phase", "");
    if (json::text_or(pod_, "/status/reason", "") == "NodeLost")
      reason_ = "Unknown";
    else if (phase != "Succeeded" && phase != "Failed")
      reason_ = "Terminating";
  }

  const json::Value& pod_;
  std::size_t total_ = 0, ready_ = 0;
  std::string reason_;
  Restarts restarts_, sidecar_restarts_;
};

std::string readiness_gates(const json::Value& pod) {
  const auto& gates = list_of(pod, "/spec/readinessGates");
  if (gates.empty()) return "<none>";
  const auto open = std::count_if(gates.begin(), gates.end(), [&](const json::Value& gate) {
    return condition_of(pod, json::text_or(gate, "/conditionType", "")) == "True";
  });
  return fmt::format("{}/{}", open, gates.size());
}

json::Array row_conditions(std::string_view phase) {
  if (phase != "Succeeded" && phase != "Failed") return {};
  return {json::Object{
      {"type", "Completed"},
      {"status", "True"},
      {"reason", phase},
      {"message", phase == "Failed" ? "The pod failed." : "The pod has completed successfully."}}};
}

}  // namespace

Row print_pod(const json::Value& pod, WallTime now) {
  const Summary summary(pod);
  return {
      .cells = {text_of(pod, "/metadata/name"), summary.ready(), summary.reason(),
                summary.restarts().text(now), age_of(pod, now),
                or_else(text_of(pod, "/status/podIPs/0/ip"), "<none>"),
                or_else(text_of(pod, "/spec/nodeName"), "<none>"),
                or_else(text_of(pod, "/status/nominatedNodeName"), "<none>"), readiness_gates(pod)},
      .conditions = row_conditions(json::text_or(pod, "/status/phase", ""))};
}

}  // namespace quorate::apiserver

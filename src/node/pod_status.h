#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json/document.h"
#include "node/pod_view.h"

namespace quorate::node {

// What a node says about a Pod of its own.

struct Waiting {
  std::string reason;
  std::string message;
  friend bool operator==(const Waiting&, const Waiting&) = default;
};
struct Running {
  WallTime since;
  friend bool operator==(const Running&, const Running&) = default;
};

struct ContainerStatus {
  std::string name;
  std::string image;
  std::string container_id;
  int restart_count = 0;
  bool started = false;
  bool ready = false;
  std::variant<Waiting, Running, Terminated> state;
  std::optional<Terminated> last;
  friend bool operator==(const ContainerStatus&, const ContainerStatus&) = default;

  const Waiting* waiting() const { return std::get_if<Waiting>(&state); }
  const Running* running() const { return std::get_if<Running>(&state); }
  const Terminated* terminated() const { return std::get_if<Terminated>(&state); }
};

struct PodCondition {
  std::string type;
  bool holds = false;
  std::string reason;
  std::string message;
  WallTime since;
  friend bool operator==(const PodCondition&, const PodCondition&) = default;
};

struct PodStatus {
  std::string phase;
  std::string reason;
  std::string message;
  std::string host_ip;
  std::string pod_ip;
  std::optional<WallTime> start_time;
  std::int64_t observed_generation = 0;
  std::vector<PodCondition> conditions;
  std::vector<ContainerStatus> init_containers;
  std::vector<ContainerStatus> containers;
  friend bool operator==(const PodStatus&, const PodStatus&) = default;

  const PodCondition* find_condition(std::string_view type) const;
  const ContainerStatus* find_container(std::string_view name) const;
};

// A strategic merge patch of the Pod's status, for this very Pod: conditions of others stay.
[[nodiscard]] json::Value render_status_patch(const PodStatus& status, const Uid& uid);

}  // namespace quorate::node

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/world.h"

namespace quorate::sim {

// Something that users do, and when.
struct Act {
  Duration at{};
  std::string says;
  std::function<void(World&)> what;
};

// A story without its misfortunes.
struct Scenario {
  std::string name;
  std::string says;
  int nodes = 3;
  int operators = 2;
  std::vector<Act> acts;
  std::vector<std::string> clusters;          // that have to stand at the end
  std::vector<std::string> gone;              // that must not
  Duration length = std::chrono::minutes(5);  // during which things go wrong
  std::vector<FaultKind> faults;              // that chance may draw
  bool pod_bound = false;                     // members lose their data with their Pods
};

[[nodiscard]] const std::vector<Scenario>& scenarios();
[[nodiscard]] const Scenario* find_scenario(std::string_view name);

}  // namespace quorate::sim

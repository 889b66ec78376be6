#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/invariants/invariant.h"
#include "tests/sim/world.h"

namespace quorate::sim {

// Something that users do, and when.
struct Act {
  Duration at{};
  std::string says;
  std::function<void(World&)> what;
};

// Something that has to be so at a time of the story, whatever the plan: scenarios that expect
// something allow no faults that could make it untrue.
struct Expectation {
  Duration at{};
  Invariant invariant;  // that is `asked` then
};

// A story without its misfortunes.
struct Scenario {
  std::string name;
  std::string says;
  int nodes = 3;
  int operators = 2;
  std::function<void(WorldOptions&)> setup = {};
  std::vector<Act> acts;
  std::vector<Expectation> expects;
  std::vector<std::string> clusters;  // that have to stand at the end
  std::vector<std::string> gone;      // that must not
  std::vector<std::string> hopeless;  // that cannot: their status has to say why
  // During which things go wrong. With the calm after it a run is ten minutes, or a little more.
  Duration length = std::chrono::seconds(470);
  std::vector<FaultKind> faults;  // that chance may draw
  bool pod_bound = false;         // members lose their data with their Pods
  bool heals = false;             // it loses something, and has to be whole again
  // The user edits the first cluster at random (operations.h), and declares this in the end.
  std::optional<json::Value> base = {};
};

[[nodiscard]] const std::vector<Scenario>& scenarios();
[[nodiscard]] const Scenario* find_scenario(std::string_view name);

}  // namespace quorate::sim

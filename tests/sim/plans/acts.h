#pragma once

#include "tests/sim/plans/scenario.h"

// What stories are made of.
namespace quorate::sim {

[[nodiscard]] json::Object plain_spec(int replicas);  // without TLS

// Applications begin to talk to what is declared.
[[nodiscard]] Act declare(Duration at, std::string name, json::Object spec);
// A version and memory, beside that.
[[nodiscard]] json::Object shaped_spec(const char* version, const char* memory);
// An edit; one that is refused is as good.
[[nodiscard]] Act edit(Duration at, std::string name, json::Object spec);
[[nodiscard]] Act remove(Duration at, std::string name);
// Something that goes wrong in this story always.
[[nodiscard]] Act befall(Duration at, FaultKind kind, int target, Duration duration = {});
// Only if cluster `c` is whole by then: what it cannot bear at once is no story of healing.
[[nodiscard]] Act befall_once_whole(Duration at, FaultKind kind, int target);

// To a member of cluster `c` that does not lead it.
[[nodiscard]] Act befall_follower(Duration at, FaultKind kind, Duration duration);

// Operators, and what they see of the world.
[[nodiscard]] const std::vector<FaultKind>& faults_of_operators();
// These, and whatever destroys nothing.
[[nodiscard]] std::vector<FaultKind> faults_that_heal();

// Three members of a cluster `c`, and all faults that heal, under another name.
[[nodiscard]] Scenario form_as(std::string name, std::string says);

// ---- Stories by what they are about ----
[[nodiscard]] std::vector<Scenario> lifecycle_scenarios();
[[nodiscard]] std::vector<Scenario> surroundings_scenarios();
[[nodiscard]] std::vector<Scenario> update_scenarios();

}  // namespace quorate::sim

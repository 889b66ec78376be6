#pragma once

#include <string>
#include <vector>

#include "conform_kube_sequence.h"
#include "json/document.h"
#include "kube/api.h"
#include "rt/clock.h"

namespace quorate::conform {

// What controllers make of objects: requests in phases, and after each phase everybody is left to
// come to rest. Paths say $NS for the script's own namespace; places of answers count through all
// phases.
struct Script {
  std::string name;
  std::vector<std::vector<Step>> phases;
  int quiet_looks = 3;  // one a second, that show the same: everybody is at rest
};
// What scripts take to be there: a node that Pods say they are on.
[[nodiscard]] std::vector<Step> common_ground();
[[nodiscard]] const std::vector<Script>& controller_scripts();

// What stands in the namespace after each phase: {"pods": [...], ...}, without what is rightly
// different (UIDs, versions, times, ends of generated names, managers).
using Snapshots = std::vector<json::Value>;

[[nodiscard]] Task<Result<void>> lay_ground(rt::Runtime runtime, kube::Api& api);

// Plays a script to servers with running controllers. kTimeout if they do not come to rest.
[[nodiscard]] Task<Result<Snapshots>> play_to_rest(rt::Runtime runtime, kube::Api& api,
                                                   const Script& script);

}  // namespace quorate::conform

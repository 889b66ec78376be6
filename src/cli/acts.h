#pragma once

#include <optional>
#include <string>

#include "cli/facts.h"

// What the commands change, decided before anything is written.
namespace quorate::cli {

struct Act {
  std::string doing;    // "scale default/c from 3 to 5 members"
  std::string kubectl;  // what does the same by hand
  json::Value patch;    // a merge patch; null: nothing to change
  [[nodiscard]] bool needed() const { return !patch.is_null(); }
};

// kInvalid, saying what would be right, if it makes no sense for this cluster. The patch names the
// cluster's UID: another one of the same name is not met.
[[nodiscard]] Result<Act> scale(const op::ClusterView& cluster, int replicas);
[[nodiscard]] Result<Act> pause(const op::ClusterView& cluster);
[[nodiscard]] Result<Act> resume(const op::ClusterView& cluster);
[[nodiscard]] Result<Act> hibernate(const op::ClusterView& cluster);
// To the size given, or to the one that was declared before `hibernate`.
[[nodiscard]] Result<Act> wake(const ClusterFacts& facts, std::optional<int> replicas);
// Every member anew, one after the other, by an annotation of its Pod.
[[nodiscard]] Result<Act> restart(const op::ClusterView& cluster, WallTime now);

// What becomes of the members' volumes when the cluster is deleted, in a sentence.
[[nodiscard]] std::string fate_of_volumes(const op::ClusterView& cluster);

}  // namespace quorate::cli

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"

// Where Pods and volumes may be: pure questions on documents, for the scheduler and the binder.
namespace quorate::apiserver {

// A Pod that has its node, and still needs its room there.
struct Placed {
  json::Value pod;
  std::string node;
};

// The names of the claims that a Pod mounts.
[[nodiscard]] std::vector<std::string> claims_of(const json::Value& pod);

// The affinity of a volume to one node, by its hostname label.
[[nodiscard]] json::Value make_node_affinity(std::string_view node);
// The volume can be reached from the node.
[[nodiscard]] bool volume_fits(const json::Value& volume, const json::Value& node);

// The Pod's node selector and required node affinity allow the node.
[[nodiscard]] bool node_selected(const json::Value& pod, const json::Value& node);
// The Pod tolerates a taint; `taint` as in a node's spec.
[[nodiscard]] bool tolerates(const json::Value& pod, const json::Value& taint);
// Every taint with this effect is tolerated.
[[nodiscard]] bool tolerates_all(const json::Value& pod, const json::Value& node,
                                 std::string_view effect);

// What a Pod asks for.
struct Demand {
  std::int64_t millis = 0;  // of a CPU
  std::int64_t bytes = 0;
  std::int64_t pods = 1;
  Demand& operator+=(const Demand& other);
  [[nodiscard]] bool fits_into(const Demand& capacity) const;
};
[[nodiscard]] Demand demand_of(const json::Value& pod);
[[nodiscard]] Demand capacity_of(const json::Value& node);

}  // namespace quorate::apiserver

#pragma once

#include <string>

#include "base/time.h"
#include "json/document.h"
#include "node/text_map.h"

namespace quorate::node {

// What a node says about itself.
struct NodeFacts {
  std::string name;
  int number = 1;
  TextMap labels;  // beside the usual ones
  long cpus = 1;
  long long memory_bytes = 0;
  std::string boot_id;  // new at each start of the node
  WallTime started;
};

[[nodiscard]] json::Value make_node_object(const NodeFacts& facts);
// A strategic merge patch of its status: addresses, capacity, Ready.
[[nodiscard]] json::Value make_node_status(const NodeFacts& facts, WallTime now);
[[nodiscard]] json::Value make_node_lease(const NodeFacts& facts, const std::string& node_uid,
                                          Duration duration, WallTime now);

inline constexpr const char* kLeaseNamespace = "kube-node-lease";

}  // namespace quorate::node

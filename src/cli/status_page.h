#pragma once

#include <span>
#include <string>

#include "cli/facts.h"
#include "cli/words.h"

namespace quorate::cli {

struct PageOptions {
  WallTime now;
  bool wide = false;
  Paint paint{false};
};

// One screen about a cluster: health, members, waits, certificates, the latest events.
[[nodiscard]] std::string render_status(const ClusterFacts& facts, const PageOptions& options);

// A line for each cluster.
[[nodiscard]] std::string render_fleet(std::span<const ListedCluster> clusters,
                                       const PageOptions& options);

}  // namespace quorate::cli

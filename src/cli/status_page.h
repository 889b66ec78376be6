#pragma once

#include <span>
#include <string>

#include "cli/facts.h"
#include "cli/table.h"

namespace quorate::cli {

struct PageOptions {
  WallTime now;
  bool wide = false;
  Paint paint{false};
};

// How it is, in a sentence, and how bad that is.
struct Health {
  Mark mark = Mark::kPlain;
  std::string text;
};
[[nodiscard]] Health health_of(const op::ClusterView& cluster);

// One screen about a cluster: health, members, waits, certificates, the latest events.
[[nodiscard]] std::string render_status(const ClusterFacts& facts, const PageOptions& options);

// A line for each cluster.
[[nodiscard]] std::string render_fleet(std::span<const ListedCluster> clusters,
                                       const PageOptions& options);

}  // namespace quorate::cli

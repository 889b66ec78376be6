#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/facts.h"

// What is said of clusters in single statements, for those who follow it in a pipe: only what has
// changed is told again. What changes all the time (ages, sizes, lags) is no part of it.
namespace quorate::cli {

struct Statement {
  std::string subject;  // "member db-0"
  std::string text;     // "voter, ready, 3.6.16, on node-1, Running"
  std::string over;     // what is said when nothing is said of it any more; empty: nothing
  friend bool operator==(const Statement&, const Statement&) = default;
};
using Statements = std::vector<Statement>;

[[nodiscard]] Statements state_cluster(const ClusterFacts& facts);
[[nodiscard]] Statements state_fleet(std::span<const ListedCluster> clusters);
[[nodiscard]] Statements state_why(const op::ClusterView& cluster);

// Lines for what stands in `after` and did not in `before`, and for subjects that are gone.
[[nodiscard]] std::vector<std::string> changes(const Statements& before, const Statements& after);

}  // namespace quorate::cli

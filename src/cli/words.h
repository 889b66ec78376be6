#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/facts.h"
#include "cli/table.h"

// What is said of a cluster, in parts: pages on a terminal and the dashboard put the same words
// into frames of their own.
namespace quorate::cli {

// How it is, in a sentence, and how bad that is.
struct Health {
  Mark mark = Mark::kPlain;
  std::string text;
};
[[nodiscard]] Health health_of(const op::ClusterView& cluster);

// A member as its record, its Pod, its volume and the cluster's status have it. What is not known
// is empty.
struct MemberWords {
  std::string name;
  std::string role;  // leader, voter, learner, none
  bool ready = false;
  std::string version, node, pod, volume, db, lag;
  std::optional<WallTime> created;
  std::string id, address, restarts;
};
[[nodiscard]] std::vector<MemberWords> describe_members(const ClusterFacts& facts);

// What one rule says that is not content.
struct VerdictWords {
  Mark mark = Mark::kBold;
  std::string rule, verb, reason, message;  // "heal", "waits", "NodeGone", a sentence
  WallTime since;
  std::optional<WallTime> deadline;
  std::string advice;  // what a person could do; empty: nothing but wait
};

// Something else that is to be known.
struct Remark {
  std::string text;
  std::optional<WallTime> since;
  std::string more;  // another line; empty: none
};

struct Why {
  std::vector<Remark> remarks;
  std::vector<VerdictWords> verdicts;
};
// From the cluster's spec and status alone.
[[nodiscard]] Why describe_why(const op::ClusterView& cluster);

}  // namespace quorate::cli

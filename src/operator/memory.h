#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kube/store.h"
#include "plan/decide.h"
#include "plan/observation.h"

namespace quorate::op {

// What the operator remembers of one cluster between two looks. Nothing here is needed for safety:
// after a restart it is empty, and is learned again.
struct ClusterMemory {
  Uid uid;  // whose: a cluster made anew under the same name starts without memories

  std::map<Ordinal, plan::MemberAnswer> answers;  // the newest of each member
  // The highest entry that each said it had applied; kept when its Pod is gone.
  std::map<Ordinal, plan::AppliedFacts> applied;
  bool ask_members = true;     // the last decision wants everything asked anew
  bool ask_endpoints = false;  // and where clients are sent
  Monotonic asked_at{};        // when the members were last asked

  // Writes that failed the last time they were tried, by object and operation.
  std::map<std::pair<std::string, std::string>, plan::Refusal> refusals;
  // Names that something without our labels holds ("Pod c-0"), and where to look for it.
  struct Place {
    kube::Resource resource;
    ObjectKey key;
  };
  std::map<std::string, Place> taken_names;

  // Own writes that the stores may not show yet.
  std::vector<std::pair<kube::StoreBase*, ObjectKey>> written;

  // For `/debug/clusters` and metrics: what was decided last.
  std::vector<plan::Ruling> rulings;
  std::map<std::string, api::ConditionStatus, std::less<>> conditions;
  int replicas = 0;
  int ready_replicas = 0;
  std::uint64_t reconciles = 0;
};

}  // namespace quorate::op

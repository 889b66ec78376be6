#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kube/store.h"
#include "plan/decide.h"
#include "plan/observation.h"

namespace quorate::op {

struct MemberCounts {
  int voters = 0;
  int voters_ready = 0;
  int learners = 0;

  MemberCounts& operator+=(const MemberCounts& more) {
    voters += more.voters;
    voters_ready += more.voters_ready;
    learners += more.learners;
    return *this;
  }
};

// What the operator remembers of one cluster between two looks. Nothing here is needed for safety:
// after a restart it is empty, and is learned again (an intent that is found counts from then on).
struct ClusterMemory {
  Uid uid;  // whose: a cluster made anew under the same name starts without memories

  std::map<Ordinal, plan::MemberAnswer> answers;  // the newest of each member
  // The highest entry that each said it had applied; kept when its Pod is gone.
  std::map<Ordinal, plan::AppliedFacts> applied;
  bool ask_members = true;     // the last decision wants everything asked anew
  bool ask_endpoints = false;  // and where clients are sent
  Monotonic asked_at{};        // when the members were last asked
  Monotonic patient_at{};      // when those who had been silent were last given their time
  Monotonic known_since{};     // when the cluster was first looked at
  // The intent that status was last seen to hold, and since when (Observation::intent_since).
  std::optional<api::IntentStatus> intent;
  Monotonic intent_since{};
  bool ask_hashes = false;                   // the last decision wants hashes of their data
  std::vector<plan::HashRound> hash_rounds;  // the last two
  // When the server last said that the namespace is going away.
  std::optional<Monotonic> namespace_going_at;
  std::optional<Monotonic> nudged_at;  // when something was last proposed to them

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

  // When the cluster's status was last written.
  std::optional<Monotonic> published_at;

  // For `/debug/clusters` and metrics: what was decided last.
  std::vector<plan::Ruling> rulings;  // of rules that had something to say
  std::uint32_t true_conditions = 0;  // bits: ClusterController::condition_types()
  MemberCounts members;
  int pods = 0;                              // of its members
  std::optional<WallTime> certificates_end;  // the first of them
  std::uint64_t reconciles = 0;
};

}  // namespace quorate::op

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "api/cluster.h"
#include "api/member.h"
#include "base/time.h"
#include "plan/observation.h"
#include "plan/rule.h"
#include "plan/verdict.h"

// The decision core. Every decision about a cluster is taken here and nowhere else.
namespace quorate::plan {

// A record's status that is no longer true.
struct MemberStatusUpdate {
  std::string record;
  Uid record_uid;
  api::MemberStatus status;
};

struct Decision {
  std::vector<Ruling> rulings;  // of the rules that were asked, in order
  std::vector<Stage> stages;    // to be taken now, in order

  // What to publish, after the steps were tried; absent = the status is not ours to write. Equal to
  // what was read if nothing changed: then nothing is written.
  std::optional<api::ClusterStatus> status;
  std::vector<MemberStatusUpdate> member_statuses;

  // When to look again without being woken; absent = not before something changes or the regular
  // question to the members comes round.
  std::optional<Duration> look_again_in;
  // Ask every member anew at the next look (linearizable member list and key count included): the
  // cluster is forming, or something is in doubt.
  bool ask_members = false;
  // Ask the members for hashes of their data.
  bool ask_hashes = false;
  // Look at the next time where clients are sent: somebody is to be removed.
  bool ask_endpoints = false;
};

// The disruptive step of a decision; nullptr if it has none.
[[nodiscard]] const Step* disruptive_step(const Decision& decision);

// Pure and total: no I/O, no clock, no chance, no failure; the same observation gives the same
// decision.
//
// Guarantees   at most one disruptive step, and that one with a permit of the quorum gate; no Pod
//              is described with an open formation once any witness says that the cluster has
//              formed; observedGeneration reaches the generation only when no rule needs anything.
// Assumptions  the observation's parts may be of different ages: what is created is created by
// POST,
//              what is harmed is harmed only after a second, live observation led to the same step
//              (step.h).
[[nodiscard]] Decision decide(const Observation& seen, std::span<const Rule> table = rules());

}  // namespace quorate::plan

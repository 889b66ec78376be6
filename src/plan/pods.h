#pragma once

#include "plan/formation.h"
#include "plan/situation.h"
#include "plan/step.h"

// How the Pods of members look.
namespace quorate::plan {

// What is fixed for the life of a Pod. Needs a target.
[[nodiscard]] PodShape make_shape(const Situation& now, const Member& member);
[[nodiscard]] std::string fingerprint(const PodShape& shape);

// What the launch guard is told: all that is known, that the formation is closed, and, until its
// record says that the member may run, that nothing is to be started.
[[nodiscard]] PodState make_state(const Situation& now, const Member& member,
                                  const FormedProof* proof = nullptr);
// The same with the formation open, if it may be: only while nobody, neither what is written down
// nor any member, says that the cluster has formed.
[[nodiscard]] PodState make_open_state(const Situation& now, const Member& member);
// Whether this is what the Pod tells its launch guard.
[[nodiscard]] bool shows(const PodFacts& pod, const PodState& state);
// What a Pod's facts hold of the annotation's text, which is long and only compared.
[[nodiscard]] std::string initial_cluster_fingerprint(std::string_view text);

}  // namespace quorate::plan

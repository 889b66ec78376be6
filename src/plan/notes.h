#pragma once

#include "plan/formation.h"
#include "plan/verdict.h"

// Writing down who the members of a formed cluster are.
namespace quorate::plan {

// What has to be written so that every witness says it: in this order.
struct Notes {
  Stage durable = {};  // on records and claims
  Stage pods = {};
  bool empty() const { return durable.steps.empty() && pods.steps.empty(); }
};

// Steps that bring what is known of the members' identities to every witness: records and claims
// first, Pods after all of them. Nothing if all of it stands there already.
//
// Guarantees   no Pod is told that the cluster has formed before records and claims say so, and
//              nothing that was known is taken back.
// The order matters: the launch guard refuses an emptied directory from the moment its Pod says
// `started`, and the operator must not forget by then what it would need to replace the member.
// Who bears witness in the proof is labelled serving by the same write; what keeps clients away
// until all of it is written is the client Service (ensure_shared.cc).
[[nodiscard]] Notes note_identities(const Situation& now, const FormedProof* proof);

// Whether every witness of every member that is there says what is known: only then may clients be
// sent to the cluster (E1: from the first acknowledged write on, no member may start anew).
[[nodiscard]] bool all_noted(const Situation& now);

}  // namespace quorate::plan

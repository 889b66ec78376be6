#include <fmt/format.h>

#include "plan/gate.h"
#include "plan/pods.h"
#include "plan/restart.h"
#include "plan/rules.h"
#include "plan/trouble.h"

// Gives a member that does not get to run the Pod that is declared now.
//
// How it goes. A declaration can keep a member from running: an image that does not exist, too
// little memory, a node that is not there. When it is corrected, the Pods that were made from the
// old one are made anew (or get the new image), whatever else is under way: nothing can be lost by
// that, and everything else may be waiting for just this member.
//
// Guarantees   only Pods in which etcd does not run are touched (gate.h), one after the other; a
//              volume stays, and a member whose data goes with its Pod keeps its Pod.
// Caveats      asked before the loss of the quorum, because it may be what brings the quorum back.
namespace quorate::plan {

Finding revive(const Situation& now) {
  if (!now.formed || !now.target || now.hibernates()) return {};
  for (const auto* member : now.current()) {
    if (!is_stuck(*member) || !is_outdated(now, *member) || must_be_replaced(now, *member))
      continue;
    const bool in_place = compare(now, *member) == Difference::kImage;
    auto permit = QuorumGate::restart_stuck_member(now, *member, in_place);
    if (!permit)
      return say(now.waiting("revive", permit.error().code,
                             fmt::format("{} does not run, and is not as declared; {}",
                                         member->name, permit.error().message)));
    return restart(now, "revive", *member, *permit, "does not run, and is not as declared");
  }
  return {};
}

}  // namespace quorate::plan

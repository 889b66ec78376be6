#pragma once

#include <optional>

#include "plan/situation.h"

// What spec.update says of members that are not as declared: which of them is restarted (or, where
// its data goes with its Pod, replaced) by us, and when that may begin.
//
// What it is for. A restart costs little, and people want to choose when it is paid all the same.
// So what is held is the beginning of a restart that nobody needs at once; what it never holds is
// what keeps a cluster alive.
//
// Guarantees   a member that runs well is not disturbed for what was declared: under OnDelete, by
//              us at all; outside of the window; before every other member has been ready for
//              `pauseBetween`. That is judged anew before every member, from the declaration, the
//              clock and what Kubernetes says of the Pods alone: a crash or another leader neither
//              shortens a pause nor begins it anew.
//              Never held: `heal`, `revive`, the loss of a volume or of a node, resizing,
//              hibernation, and whatever does not restart members (leaf certificates, labels,
//              Services, growth of claims). A Pod that is made anew for whichever reason is made as
//              declared now. A member that is neither ready nor counted on is restarted outside of
//              the window and without a pause: nothing is left to protect it from.
//              Authorities do not run out by it: from `pressing_time` on, members that do not trust
//              the next one yet are restarted whatever is declared, one after the other, as any.
// Assumptions  the operator's clock and the kubelets' agree well enough: by how much they differ, a
//              pause is longer or shorter.
// Caveats      a member that is restarted for its authority gets all that is declared. A member
//              that keeps losing its readiness holds the roll of the others: `pauseBetween` asks
//              for just that.
namespace quorate::plan {

// Why the member, which is not as declared, is left as it is for now; nothing if it is not.
// `failing`: it is neither ready nor counted on.
[[nodiscard]] std::optional<Waiting> find_hold(const Situation& now, const Member& member,
                                               bool failing);

// The authority that the member trusts is about to run out, and it does not trust the next one yet.
[[nodiscard]] bool is_pressing(const Situation& now, const Member& member);

}  // namespace quorate::plan

#include <fmt/format.h>

#include "plan/rules.h"

// Whose cluster it is: that of the operator who first wrote its identity into the cluster's status.
//
// Guarantees   two operators of different identity never act on one cluster. Before its identity
//              stands there, an operator does nothing else; that write names the version of the
//              unclaimed cluster, so of two operators one succeeds. The other writes nothing at
//              all, status included.
// Assumptions  whoever empties the status of a cluster, or restores it from before it was claimed,
//              sees to it that one operator alone is there.
// Caveats      two operators that share an identity are told apart by their lease alone.
namespace quorate::plan {

Finding ownership(const Situation& now) {
  if (now.claimed_by_other) {
    auto wait = now.waiting("ownership", "OtherOperator",
                            fmt::format("the cluster belongs to operator \"{}\"",
                                        now.seen.cluster.status->operator_identity));
    wait.deadline.reset();
    return {{wait}, {}, Finding::Rest::kNothing};
  }
  if (now.claimed || now.seen.cluster.deleting) return {};
  return {{now.acts("ownership", "Claiming",
                    fmt::format("claims the cluster for operator \"{}\"", now.seen.op.identity))},
          {},
          Finding::Rest::kNothing};
}

}  // namespace quorate::plan

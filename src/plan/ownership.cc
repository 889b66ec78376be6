#include <fmt/format.h>

#include "plan/rules.h"

// Leaves clusters alone that another operator has claimed.
//
// Guarantees   two operators of different identity never act on one cluster: whoever wrote its
//              identity into status first has it. Nothing at all is written, status included.
// Caveats      two operators that share an identity are told apart by their lease alone.
namespace quorate::plan {

Finding ownership(const Situation& now) {
  if (!now.claimed_by_other) return {};
  auto wait = now.waiting("ownership", "OtherOperator",
                          fmt::format("the cluster belongs to operator \"{}\"",
                                      now.seen.cluster.status->operator_identity));
  wait.deadline.reset();
  return {{wait}, {}, Finding::Rest::kNothing};
}

}  // namespace quorate::plan

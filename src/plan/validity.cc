#include "plan/rules.h"

// A declaration that cannot be taken up.
//
// Guarantees   an invalid spec changes nothing: the last good one stays the target, the message
//              names field, value, rule and what would be right, and a correction is taken up
//              without any clean-up. Without a good one nothing is done at all.
namespace quorate::plan {

Finding validity(const Situation& now) {
  if (now.problems.empty()) return {};
  auto verdict = now.blocked("validity", "InvalidSpec", api::text(now.problems));
  verdict.deadline.reset();
  return {{verdict}, {}, now.target ? Finding::Rest::kAll : Finding::Rest::kNothing};
}

}  // namespace quorate::plan

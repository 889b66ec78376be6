#include <fmt/format.h>

#include "plan/rules.h"

// A formed cluster that no quorum of its voters stands behind.
//
// Guarantees   it is told, and nothing is touched: a loss that passes heals by itself, with or
//              without an operator.
// Caveats      recovery from a loss that stays is not there yet.
namespace quorate::plan {

Finding quorum_loss(const Situation& now) {
  if (!now.formed || now.hibernates()) return {};
  auto quorum = now.quorum();
  if (quorum.stands()) return {};
  auto verdict =
      now.blocked("quorum loss", "NoQuorum",
                  fmt::format("{} of {} voters answer{}", quorum.answering, quorum.voters,
                              quorum.confirmed ? "" : ", and no quorum confirmed a read"));
  return {{verdict}, {}, Finding::Rest::kHarmless};
}

}  // namespace quorate::plan

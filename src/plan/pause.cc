#include "plan/rules.h"

// A person asked us to keep our hands off.
//
// Guarantees   no step while spec.paused is set, from the pass on that reads it; what is under way
//              in etcd and Kubernetes goes on by itself. A spec that is otherwise invalid pauses,
//              too.
namespace quorate::plan {

Finding pause(const Situation& now) {
  const auto& declared = now.seen.cluster.declared;
  bool paused = declared ? declared->paused : now.target && now.target->paused;
  if (!paused) return {};
  auto wait = now.waiting("pause", "Paused", "spec.paused is set; nothing is done");
  wait.deadline.reset();
  return {{wait}, {}, Finding::Rest::kNothing};
}

}  // namespace quorate::plan

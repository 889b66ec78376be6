#include "plan/rules.h"

// A cluster that is being deleted: act no more.
//
// Guarantees   nothing is created or changed for it, so that deletion ends by garbage collection
//              alone, whatever state etcd is in, and also while no operator runs.
// Assumptions  everything is owned by the EtcdCluster, claims only if they are to go with it.
namespace quorate::plan {

Finding teardown(const Situation& now) {
  if (!now.seen.cluster.deleting) return {};
  return {
      {now.waiting("teardown", "Deleting", "being deleted; garbage collection removes the rest")},
      {},
      Finding::Rest::kNothing};
}

}  // namespace quorate::plan

#include <fmt/format.h>

#include "plan/rules.h"

// A cluster that is being deleted, by itself or with its namespace: act no more.
//
// Guarantees   nothing is created or changed for it, so that deletion ends by garbage collection
//              alone, whatever state etcd is in, and also while no operator runs. In a namespace
//              that is going away, whatever goes would otherwise make us ask for its like again,
//              once for every object that goes.
// Assumptions  everything is owned by the EtcdCluster, claims only if they are to go with it. That
//              a namespace goes is the server's own word, in its refusal to make something there;
//              it never comes back, and yet the word is believed for kNamespacePause alone.
namespace quorate::plan {

Finding teardown(const Situation& now) {
  if (now.seen.cluster.deleting)
    return {
        {now.waiting("teardown", "Deleting", "being deleted; garbage collection removes the rest")},
        {},
        Finding::Rest::kNothing};
  const auto& going = now.seen.namespace_going_at;
  if (!going || now.seen.now.monotonic - *going >= kNamespacePause) return {};
  return say(
      now.blocked("teardown", "NamespaceTerminating",
                  fmt::format("namespace {} is being deleted; nothing is made in it any more",
                              now.seen.cluster.key.ns)),
      Finding::Rest::kNothing);
}

}  // namespace quorate::plan

#pragma once

#include <map>
#include <string>
#include <vector>

#include "apiserver/controller.h"
#include "apiserver/controller_placement.h"

namespace quorate::apiserver {

// Gives Pods their nodes. A node must be ready, let the Pod in (taints, selectors, affinities),
// have room for what it asks for, reach its volumes and keep hard topology spreads; of those that
// do, the one with the fewest Pods of the same kind, then with the fewest Pods, then the first by
// name. A Pod that no node takes says so in its condition, and is tried again when something has
// changed.
class Scheduler : public Controller {
 public:
  Scheduler(rt::Runtime runtime, Verbs& verbs);

 private:
  void note(const Change& change) override;
  void reconcile(const WorkKey& work) override;

  // Why a Pod cannot be placed anywhere; empty if its claims do not stand in the way.
  std::string find_obstacle(const json::Value& pod, const std::string& ns);
  // Why a node does not take a Pod, in the words of the real scheduler; empty if it does.
  std::string refuse(const json::Value& pod, const json::Value& node,
                     const std::vector<Placed>& placed);
  bool reaches_volumes(const json::Value& pod, const json::Value& node);
  bool is_kept_apart(const json::Value& pod, const json::Value& node,
                     const std::vector<Placed>& placed);
  int count_alike(const json::Value& pod, const json::Value& node,
                  const std::vector<Placed>& placed);
  // True if all claims are bound; otherwise their volumes are asked for on the node.
  bool choose_for_claims(const json::Value& pod, const std::string& ns, const std::string& node);
  void give_up(const WorkKey& work, json::Value pod, const std::string& message);
  // All but this one: those that have a node, and those that wait for their volumes on one.
  std::vector<Placed> placed_pods(const WorkKey& but);

  std::set<WorkKey>
      waiting_;  // Pods without a node, so that a change of nodes need not look for them
  std::map<WorkKey, std::string> assumed_;  // the node on which a Pod waits for its volumes
};

}  // namespace quorate::apiserver

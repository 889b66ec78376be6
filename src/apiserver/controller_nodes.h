#pragma once

#include <string>
#include <vector>

#include "apiserver/controller.h"

namespace quorate::apiserver {

struct NodeTiming {
  Duration grace = std::chrono::seconds(50);   // without a heartbeat, until a node is unknown
  Duration orphan = std::chrono::seconds(40);  // a Pod whose node does not exist is given
};

// Watches over nodes. One that has not been heard of (neither its Lease nor its status) becomes
// Unknown; taints follow its Ready condition; Pods that do not tolerate them are deleted, after the
// time that they tolerate them for. A Pod on a dead node stays in deletion, because only its node
// could say that it has ended: until the node is deleted, or marked out of service.
class NodeController : public Controller {
 public:
  NodeController(rt::Runtime runtime, Verbs& verbs, NodeTiming timing);

 private:
  void note(const Change& change) override;
  void reconcile(const WorkKey& work) override;

  void reconcile_node(const WorkKey& work, const json::Value& node);
  void reconcile_pod(const WorkKey& work, const json::Value& pod);
  // When the node was last heard of.
  std::optional<WallTime> heartbeat(const json::Value& node);
  void mark_unknown(const WorkKey& work, json::Value node);
  void set_taints(const WorkKey& work, const json::Value& node);
  void make_pods_unready(const std::string& node);
  void evict_if_due(const WorkKey& work, const json::Value& pod, const json::Value& node);
  void force_delete(const WorkKey& work, const json::Value& pod);
  std::vector<ObjectKey> pods_on(const std::string& node);

  NodeTiming timing_;
  std::map<WorkKey, WallTime> orphaned_;  // Pods whose node is missing, since when that is known
};

}  // namespace quorate::apiserver

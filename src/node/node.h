#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kube/client.h"
#include "kube/events.h"
#include "kube/store.h"
#include "node/claims.h"
#include "node/cluster_view.h"
#include "node/gated_api.h"
#include "node/node_context.h"
#include "node/node_object.h"
#include "node/pod_runner.h"
#include "rt/files.h"
#include "rt/group.h"
#include "rt/signal.h"

namespace quorate::kube {

// Compiled once, in node.cc.
extern template class Store<node::PodView>;

}  // namespace quorate::kube

namespace quorate::node {

struct NodeOptions {
  int number = 1;  // 1 to 254; its addresses are 198.18.<number>.0/24
  std::string name;
  NodeDirs dirs;
  TextMap labels;
  PodPolicy policy;
  Environment base_environment;
  Duration lease_period = std::chrono::seconds(10);
  Duration lease_duration = std::chrono::seconds(40);
  Duration status_period = std::chrono::minutes(1);
  Duration shutdown_grace = std::chrono::seconds(5);
  std::size_t log_limit = std::size_t{10} << 20;
  bool keep_logs = false;
};

// One node, from power on to power off: registers itself, keeps its lease, runs the Pods that are
// bound to it, and provisions its claims. A new object of the same name and directories is the same
// node after a reboot.
class Node {
 public:
  // Lays the node's wires, and ends what an earlier life of the node may have left.
  [[nodiscard]] static Result<std::unique_ptr<Node>> make(rt::Runtime runtime, kube::Api& api,
                                                          rt::Files& files, ClusterView& cluster,
                                                          const ImageTable& images,
                                                          NodeOptions options, Log log);

  // Until stop() has been carried out. If it is cancelled instead, all containers are killed at
  // once, and the API is told nothing: a power cut.
  Task<void> run();
  // Ends all containers within the grace. Their Pods stay this node's, and run again when it does.
  void stop();

  // Pulls the node's cable: neither its Pods nor the node itself reach anybody beyond it.
  Result<void> cut();
  Result<void> mend();
  [[nodiscard]] bool is_cut() const { return !api_.is_open(); }

  [[nodiscard]] const std::string& name() const { return options_.name; }
  [[nodiscard]] const NodeDirs& dirs() const { return options_.dirs; }
  // The Pod's runner, or nullptr.
  [[nodiscard]] PodRunner* find_pod(const ObjectKey& pod);
  // An object that Pods may refer to has changed.
  void dependency_changed();

 private:
  Node(rt::Runtime runtime, kube::Api& api, rt::Files& files, ClusterView& cluster,
       const ImageTable& images, NodeOptions options, Wires wires, Log log);

  Task<void> keep_alive();
  Task<Result<void>> register_node();
  Task<Result<void>> renew_lease();
  Task<Result<void>> tell_status();

  void pod_changed(const kube::Store<PodView>::Change& change);
  Task<void> run_pod(Uid uid);
  Task<void> sweep_when_synced();

  Task<void> follow_claims();
  Task<Result<void>> carry_out(Provision step);
  Task<Result<void>> carry_out(Reclaim step);
  Task<Result<void>> carry_out(Grow step);

  rt::Runtime runtime_;
  NodeOptions options_;
  Log log_;
  rt::Files& files_;
  GatedApi api_;
  kube::Client client_;
  kube::Recorder recorder_;
  ClusterView& cluster_;
  Wires wires_;
  NodeContext context_;
  NodeFacts facts_;
  std::string uid_;  // of the Node object
  kube::Store<PodView> pods_;
  std::map<Uid, std::unique_ptr<PodRunner>> runners_;
  bool stopping_ = false;
  rt::Signal stopped_;
  rt::Signal cluster_changed_;
  bool cluster_dirty_ = true;
  rt::TaskGroup pod_fibers_;
};

// Ends every process that the node's state files name and that is still the same: the remains of a
// life in which the kernel did not clean up. Gives how many there were.
int end_leftovers(const NodeDirs& dirs);

}  // namespace quorate::node

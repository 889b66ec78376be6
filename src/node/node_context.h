#pragma once

#include <string>

#include "base/log.h"
#include "kube/client.h"
#include "kube/events.h"
#include "node/address_pool.h"
#include "node/cluster_view.h"
#include "node/container_machine.h"
#include "node/environment.h"
#include "node/images.h"
#include "node/node_dirs.h"
#include "node/wires.h"

namespace quorate::node {

// What the Pods of one node have in common. Outlives them.
struct NodeContext {
  rt::Runtime runtime;
  kube::Client& client;
  kube::Recorder& recorder;
  ClusterView& cluster;
  ObjectFinder objects;  // of `cluster`
  const ImageTable& images;
  Wires& wires;
  std::string name;
  NodeDirs dirs;
  AddressPool addresses;
  PodPolicy policy;
  Environment base_environment;  // of every container
  std::size_t log_limit = std::size_t{10} << 20;
  bool keep_logs = false;  // of Pods that are gone
  Log log;
};

}  // namespace quorate::node

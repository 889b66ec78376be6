#pragma once

#include <memory>
#include <string>
#include <vector>

#include "json/document.h"
#include "node/run_nodes.h"
#include "tests/integration/node_rig.h"
#include "tests/support/kube_fixture.h"

namespace quorate::node {

// A process that plays nodes, as `quorate node` does.
class NodeProcess {
 public:
  // `directory` is that of the fabric, which the process enters.
  NodeProcess(As who, std::string directory, std::string kubeconfig, NodesOptions options)
      : who_(who),
        directory_(std::move(directory)),
        kubeconfig_(std::move(kubeconfig)),
        options_(std::move(options)) {}
  ~NodeProcess();

  void start();
  void stop();  // SIGTERM, and waits
  void kill();  // SIGKILL: a power cut of all of its nodes
  [[nodiscard]] bool running() const { return pid_ > 0; }
  NodesOptions& options() { return options_; }  // of the next start

 private:
  [[noreturn]] void live() const;

  As who_;
  std::string directory_;
  std::string kubeconfig_;
  NodesOptions options_;
  int pid_ = 0;
};

// A fabric whose network this process has entered, a real control plane in it, and nodes. To be
// made in a process of its own (run_apart). Fabric and nodes belong to the given user; the control
// plane, which knows nothing of them, to this process.
class World {
 public:
  struct Options {
    As who = As::kSelf;
    int nodes = 1;
    Duration backoff_base = std::chrono::seconds(10);
  };
  World(const std::string& directory, Options options);

  support::KubeCluster& kube() { return *kube_; }
  NodeProcess& nodes() { return *nodes_; }

  void apply(const std::string& manifest) { kube_->apply(manifest); }
  // The object, or null.
  json::Value get(const std::string& kind, const std::string& name);
  std::string kubectl(const std::vector<std::string>& arguments);
  // Waits until the text at the pointer of the object is `wanted`.
  void await(const std::string& kind, const std::string& name, const std::string& pointer,
             const std::string& wanted, std::chrono::seconds within = std::chrono::seconds(60));
  void await_ready(const std::string& pod);
  void await_gone(const std::string& kind, const std::string& name);
  // The output of a container's run.
  std::string log_of(const std::string& pod, const std::string& container, int attempt = 0);
  const std::string& directory() const { return directory_; }

 private:
  void enter_fabric(As who);
  std::string write_kubeconfig() const;

  std::string directory_;
  std::unique_ptr<support::KubeCluster> kube_;
  std::unique_ptr<NodeProcess> nodes_;
};

// Processes that live in network or PID namespaces other than this one and were started below the
// given folder's nodes: what a node has left behind. By name of their program.
std::vector<std::string> processes_named(const std::string& marker);

}  // namespace quorate::node

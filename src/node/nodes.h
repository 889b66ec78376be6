#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "kube/api.h"
#include "node/images.h"
#include "node/node.h"
#include "node/service_network.h"
#include "rt/files.h"

namespace quorate::node {

inline constexpr const char* kNodePrefix = "node-";  // of names, before the number

struct NodesOptions {
  std::string directory;  // what the nodes keep; absolute
  std::string prefix = kNodePrefix;
  int first = 1;  // number of the first node; two processes of one fabric use different ones
  int count = 1;
  std::set<std::string> off;  // nodes that are not powered on at the beginning
  std::set<std::string> cut;  // nodes whose cable is pulled at the beginning
  ImageTable images;
  TextMap labels;
  PodPolicy policy;
  Duration lease_period = std::chrono::seconds(10);
  Duration shutdown_grace = std::chrono::seconds(5);
  std::size_t log_limit = std::size_t{10} << 20;
  bool keep_logs = false;
  bool services = true;                     // DNS and addresses of Services
  bool storage_class = true;                // makes the class `local`, the default one
  std::optional<SocketAddress> api_server;  // what stands behind the Service default/kubernetes
};

// To be called first, while the process has one thread and is inside of a fabric: takes the process
// into a mount namespace of its own, with a tmpfs for what must not outlive it. The error says so
// if this is no fabric, or what the kernel refuses.
[[nodiscard]] Result<void> prepare_node_process(const std::string& directory);

// The nodes that one process plays, and what they share.
class Nodes {
 public:
  // kInvalid for options that cannot be.
  [[nodiscard]] static Result<std::unique_ptr<Nodes>> make(rt::Runtime runtime, kube::Api& api,
                                                           rt::Files& files, NodesOptions options,
                                                           Log log);

  // Until stop() has been carried out: all containers have ended. Cancelled: a power cut.
  Task<Result<void>> run();
  void stop();

  // Whether the nodes have been powered on that are on at the beginning.
  [[nodiscard]] bool are_up() const { return up_; }

  // One node alone, by its name; kNotFound. Powered off, all of its Pods vanish at once and nobody
  // is told; powered on, it boots and runs the Pods that are still bound to it. kUnavailable before
  // all of them are up, and once they are told to stop.
  Task<Result<void>> power_off(std::string node);
  Result<void> power_on(const std::string& node);
  // Its cable, whether it is on or not: it stays pulled until it is mended.
  Result<void> cut(const std::string& node);
  Result<void> mend(const std::string& node);
  struct State {
    std::string name;
    bool on = false;
    bool cut = false;  // its cable is pulled
  };
  [[nodiscard]] std::vector<State> states() const;
  // nullptr if it is off or unknown.
  [[nodiscard]] Node* find(const std::string& node);

 private:
  // A slot is a machine, with its switch and its cable: a node runs in it while it is on.
  struct Slot {
    int number = 0;
    bool on = true;
    bool cut = false;
    std::unique_ptr<Node> node;
    std::unique_ptr<rt::TaskGroup> life;
    bool going = false;  // off, and its last containers are ending
  };

  Nodes(rt::Runtime runtime, kube::Api& api, rt::Files& files, NodesOptions options, Log log);
  Result<void> boot(const std::string& name, Slot& slot);
  Result<Slot*> find_slot(const std::string& name);
  Task<Result<void>> prepare_cluster();
  Task<Result<void>> make_class();
  Task<Result<void>> find_api_service();
  Task<Result<void>> live();
  Task<void> end_lives();

  rt::Runtime runtime_;
  kube::Api& api_;
  rt::Files& files_;
  NodesOptions options_;
  Log log_;
  kube::Client client_;
  ClusterView cluster_;
  ServiceNetwork services_;
  Environment base_environment_;
  std::map<std::string, Slot> slots_;
  bool up_ = false;
  bool stopping_ = false;
  rt::Signal changed_;
};

}  // namespace quorate::node

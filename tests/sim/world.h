#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "apiserver/controllers.h"
#include "apiserver/server.h"
#include "operator/options.h"
#include "rt/virtual_loop.h"
#include "tests/sim/clients.h"
#include "tests/sim/etcd/world.h"
#include "tests/sim/faults/fate.h"
#include "tests/sim/faults/link.h"
#include "tests/sim/kubelet/kubelet.h"
#include "tests/sim/replica.h"

namespace quorate::sim {

struct WorldOptions {
  std::uint64_t seed = 1;
  rt::VirtualLoop::Order order = rt::VirtualLoop::Order::kRandom;
  int nodes = 3;
  int operators = 2;
  int clients = 2;
  Plan plan;
  op::OperatorOptions op;  // rules, timings; names are filled in
  WrapApi wrap;            // decorators of a replica's seams, for mutants
  WrapEtcd wrap_etcd;
  std::function<void(std::string_view)> log;  // of the operators; empty = dropped
};

// The world in a box: an API server, nodes, etcd processes, operators, clients,
// and what goes wrong, in one thread and in virtual time. The same options give
// the same run.
class World {
 public:
  explicit World(WorldOptions options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Starts everybody. What has to be there before (namespaces, CRDs, the
  // storage class) is made.
  void start();

  // ---- Time ----
  // Calls `after_step` after every step in which something changed.
  void run_for(Duration time);
  // True as soon as it holds; false if it does not within the time.
  bool run_until(const std::function<bool()>& holds, Duration within);
  std::function<void()> after_step;
  // Told what is worth reading: who, and what. Empty: nobody wants to know.
  std::function<void(std::string_view who, const std::string& what)> tell;
  [[nodiscard]] Monotonic now() const { return user_.clock->now(); }
  [[nodiscard]] Duration elapsed() const { return now() - born_; }

  // ---- The user ----
  // Creates the cluster, or replaces its spec. The first refusal that it meets.
  Result<void> declare(const std::string& name, const json::Value& spec);
  Result<void> remove(const std::string& name);
  static constexpr const char* kNamespace = "default";
  static constexpr const char* kNextLaunchImage = "quorate:next";  // of a newer operator
  [[nodiscard]] std::vector<std::string> declared() const;         // names of the EtcdClusters

  // ---- Who is in it ----
  rt::VirtualLoop& loop() { return loop_; }
  [[nodiscard]] std::uint64_t steps() const { return loop_.steps(); }
  apiserver::Server& api() { return *api_; }
  etcdsim::EtcdWorld& etcd() { return *etcd_; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const Audit& audit() const { return audit_; }
  Disks& disks() { return disks_; }
  Fate& fate() { return *fate_; }
  std::vector<std::unique_ptr<Kubelet>>& nodes() { return nodes_; }
  std::vector<std::unique_ptr<Replica>>& replicas() { return replicas_; }
  [[nodiscard]] const History& history() const { return history_; }
  std::vector<std::unique_ptr<Client>>& clients() { return clients_; }

  // ---- Truth, looked up ----
  // nullptr if it is not there.
  [[nodiscard]] apiserver::Decoded find(const apiserver::Kind& kind, const ObjectKey& key);
  [[nodiscard]] apiserver::Decoded cluster(const std::string& name);
  // Pods of members, in the order of their names; those of one cluster.
  [[nodiscard]] std::vector<ObjectKey> member_pods();
  [[nodiscard]] std::vector<ObjectKey> pods_of(const std::string& cluster);
  // Whether clients were ever sent to it.
  [[nodiscard]] bool was_served(const std::string& cluster) const {
    return served_.contains(cluster);
  }
  [[nodiscard]] etcdsim::EtcdProcess* process_of(const ObjectKey& pod);
  // The disk that the Pod's etcd was last started on; nullptr if it never was.
  [[nodiscard]] Disk disk_of(const ObjectKey& pod);
  [[nodiscard]] Kubelet* node_of(const ObjectKey& pod);
  // Where clients of a cluster are sent: ready addresses behind its client
  // Service.
  [[nodiscard]] const std::vector<Endpoint>& endpoints(const std::string& cluster);
  // The declaration is what is: every member runs, votes, is ready and served,
  // and status says so.
  [[nodiscard]] bool converged(const std::string& cluster);
  // It is deleted, and nothing of it runs.
  [[nodiscard]] bool is_gone(const std::string& cluster);

 private:
  void install();
  std::shared_ptr<const etcd::Identity> identity(const std::string& cluster);
  void create(std::string_view api_version, std::string_view kind, json::Value object);
  bool something_changed();
  Task<void> ring(Monotonic when, std::shared_ptr<bool> rung);

  WorldOptions options_;
  rt::VirtualLoop loop_;
  rt::Runtime user_;
  rt::TaskGroup bells_;
  std::unique_ptr<apiserver::Server> api_;
  std::unique_ptr<etcdsim::EtcdWorld> etcd_;
  std::optional<rt::Runtime> control_plane_;
  std::unique_ptr<apiserver::Controllers> controllers_;
  std::unique_ptr<rt::TaskGroup> controller_fibers_;
  Disks disks_;
  Ledger ledger_;
  Audit audit_;
  History history_;
  Images images_;
  std::unique_ptr<Fate> fate_;
  std::vector<std::unique_ptr<Kubelet>> nodes_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::shared_ptr<apiserver::Storage::Listener> listener_;
  std::map<std::string, std::optional<std::vector<Endpoint>>> endpoints_;  // absent: look again
  std::set<std::string> served_;
  std::map<std::string, std::pair<std::int64_t, std::shared_ptr<const etcd::Identity>>> identities_;
  Monotonic born_{};
  struct Seen {
    std::int64_t version = 0;
    std::size_t starts = 0;
    std::uint64_t events = 0;
    std::size_t requests = 0;
    std::size_t changes = 0;
    std::size_t answers = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
  } seen_;
};

}  // namespace quorate::sim

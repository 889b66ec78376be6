#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apiserver/selection.h"
#include "apiserver/server.h"
#include "apiserver/storage.h"
#include "rt/group.h"
#include "rt/signal.h"
#include "tests/sim/etcd/world.h"
#include "tests/sim/kubelet/disks.h"
#include "tests/sim/kubelet/ledger.h"

namespace quorate::sim {

class PodRun;

// What runs under the name of an image.
struct Image {
  std::optional<etcdsim::Version> etcd;  // absent: the image that holds quorate-launch
};
using Images = std::map<std::string, Image>;

struct KubeletOptions {
  Duration reaction_most =
      std::chrono::milliseconds(50);                     // from a change of a Pod to looking at it
  Duration pull_least = std::chrono::milliseconds(200);  // of an image that the node does not have
  Duration pull_most = std::chrono::seconds(2);
  Duration prepare_least = std::chrono::milliseconds(20);  // network and volumes of a Pod
  Duration prepare_most = std::chrono::milliseconds(200);
  Duration step_most = std::chrono::milliseconds(3);  // one durable write of the guard
  Duration files_most = std::chrono::seconds(90);     // until a changed Secret is in the Pods
  Duration lease_every = std::chrono::seconds(10);
  Duration boot = std::chrono::seconds(20);
};

// What all nodes share. Outlives them.
struct Ground {
  apiserver::Server& api;
  etcdsim::EtcdWorld& etcd;
  Disks& disks;
  Ledger& ledger;
  const Images& images;
};

// A node and its kubelet: registers itself, renews its lease, and runs the Pods
// that are bound to it. The life of a Pod is led by the production machine
// (node::PodMachine); here its actions become effects on simulated disks and
// processes.
//
// One fiber of the node's own actor does everything; a node on which nothing
// changes is woken once a second, to look at the answers to probes, and costs
// next to nothing.
class Kubelet {
 public:
  Kubelet(rt::Runtime runtime, Ground ground, std::string name, int number,
          KubeletOptions options = {});
  ~Kubelet();
  Kubelet(const Kubelet&) = delete;
  Kubelet& operator=(const Kubelet&) = delete;

  void start();

  // ---- What may happen to a node ----
  void power_off();             // everything in it dies where it is; nothing is reported
  void power_on();              // boots: Pods that are still bound to it start again
  void reboot();                // one after the other
  void cut_from_api(bool cut);  // Pods run on; nothing is heard and nothing is reported
  [[nodiscard]] bool powered() const { return powered_; }
  [[nodiscard]] bool connected() const { return !cut_; }

  [[nodiscard]] const std::string& name() const { return name_; }
  // The running process in a Pod; nullptr if there is none.
  [[nodiscard]] etcdsim::EtcdProcess* find_process(const ObjectKey& pod) const;
  [[nodiscard]] std::vector<std::string> sites() const;  // of its Pods, on the network

  // ---- For its Pods ----
  const Ground& ground() const { return ground_; }
  const KubeletOptions& options() const { return options_; }
  rt::Runtime runtime() const { return runtime_; }
  Duration between(Duration least, Duration most);
  // Runs it later in this node's fiber; not if the node goes down before.
  void after(Duration delay, std::function<void()> what);
  std::string make_address();                 // of a Pod
  [[nodiscard]] std::string address() const;  // of the node
  bool has_image(const std::string& image) const { return pulled_.contains(image); }
  void note_image(const std::string& image) { pulled_.insert(image); }
  // There is none for this node's architecture.
  void lack(const std::string& image) { lacking_.insert(image); }
  bool lacks(const std::string& image) const { return lacking_.contains(image); }
  void wake(const ObjectKey& pod);

 private:
  [[nodiscard]] bool is_bound_here(const ObjectKey& pod, const apiserver::Record& record) const;
  Task<void> run();
  void note_event(const apiserver::Event& event);
  void look_at_changes();
  void look_at(const ObjectKey& key);
  void run_due();
  void drive_pods();
  void register_node();
  void heartbeat();
  Monotonic next_time() const;

  rt::Runtime runtime_;
  Ground ground_;
  std::string name_;
  int number_;
  KubeletOptions options_;
  apiserver::Selection bound_here_;
  std::shared_ptr<apiserver::Storage::Listener> listener_;

  bool powered_ = false;
  bool cut_ = false;
  int boots_ = 0;
  int addresses_ = 0;
  WallTime started_{};
  std::string uid_;  // of the Node object
  std::set<std::string> pulled_;
  std::set<std::string> lacking_;
  std::set<ObjectKey> changed_;  // Pods to be looked at, by the API
  std::set<ObjectKey> changed_secrets_;
  std::map<ObjectKey, std::unique_ptr<PodRun>> pods_;
  std::vector<std::unique_ptr<PodRun>> leaving_;  // their object is gone, their containers are not

  struct Due {
    Monotonic at;
    std::uint64_t sequence;
    auto operator<=>(const Due&) const = default;
  };
  std::map<Due, std::function<void()>> agenda_;
  std::uint64_t sequence_ = 0;
  Monotonic heartbeat_at_{};

  rt::Signal wake_;
  rt::TaskGroup group_;
};

}  // namespace quorate::sim

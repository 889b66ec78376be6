#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rt/virtual_loop.h"
#include "tests/integration/conform_etcd_script.h"
#include "tests/sim/etcd/api.h"

namespace quorate::conform_etcd {

// A cluster of simulated members, formed when the constructor returns.
class SimBackend {
 public:
  SimBackend(const Script& script, std::uint64_t seed);
  ~SimBackend();

  etcd::Api& api() { return api_; }
  template <class T>
  T run(Task<T> task) {
    return loop_.run(std::move(task));
  }
  rt::Deadline within(Duration time) { return world_.runtime().in(time); }
  void sleep(Duration time) { loop_.run_for(time); }

  std::size_t size() const { return members_.size(); }
  std::string peer_url(std::size_t i) const;
  std::string client_url(std::size_t i) const;
  bool running(std::size_t i) const;
  bool ever_started(std::size_t i) const { return members_.at(i).process != nullptr; }

  void add_member();
  void set_initial_cluster(std::size_t i, std::string initial_cluster, std::string state);
  void set_version(std::size_t i, const std::string& version);
  void start(std::size_t i);
  void kill(std::size_t i);
  void stop(std::size_t i);
  void pause(std::size_t i) { members_.at(i).process->pause(); }
  void resume(std::size_t i) { members_.at(i).process->resume(); }
  void cut_peers();
  void cut_off(std::size_t i);
  void heal_peers() { world_.network().heal_all(); }
  void wipe(std::size_t i) { members_.at(i).volume->wipe(); }
  void await_connections(const std::set<std::size_t>&) {}  // simulated ones never lag for long
  std::string cluster_version(std::size_t i);
  bool enable_auth(std::size_t i);
  Result<void> save_snapshot(std::size_t i);
  bool restore(std::size_t i, const std::string& token);

 private:
  struct Member {
    etcdsim::Version version;
    std::shared_ptr<etcdsim::Volume> volume = std::make_shared<etcdsim::Volume>();
    std::shared_ptr<etcdsim::EtcdProcess> process = nullptr;
    std::string initial_cluster = {};
    std::string state = "existing";
  };
  static std::string name_of(std::size_t i) { return "m" + std::to_string(i); }
  Task<Result<std::string>> read_snapshot(std::size_t i);

  rt::VirtualLoop loop_;
  etcdsim::EtcdWorld world_;
  etcdsim::SimEtcd api_;
  std::string version_;
  std::vector<std::string> flags_;
  std::vector<Member> members_;
  std::string snapshot_;
};

}  // namespace quorate::conform_etcd

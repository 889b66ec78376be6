#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "etcd/client.h"
#include "rt/loop.h"
#include "tests/integration/conform_etcd_script.h"
#include "tests/support/etcd_fixture.h"

namespace quorate::conform_etcd {

// A cluster of real processes, formed when the constructor returns. Throws FixtureError.
class RealBackend {
 public:
  explicit RealBackend(const Script& script);
  ~RealBackend();

  etcd::Api& api() { return *api_; }
  template <class T>
  T run(Task<T> task) {
    return loop_.run(std::move(task));
  }
  rt::Deadline within(Duration time) { return loop_.runtime().in(time); }
  void sleep(Duration time);

  std::size_t size() const { return cluster_->size(); }
  std::string peer_url(std::size_t i) const { return (*cluster_)[i].peer_url(); }
  std::string client_url(std::size_t i) const { return (*cluster_)[i].client_url(); }
  bool running(std::size_t i) { return started_.contains(i) && (*cluster_)[i].running(); }
  bool ever_started(std::size_t i) const { return started_.contains(i); }

  void add_member() { cluster_->add_member(); }
  void set_initial_cluster(std::size_t i, std::string initial_cluster, std::string state);
  void set_version(std::size_t i, const std::string& version) {
    (*cluster_)[i].set_version(version);
  }
  void start(std::size_t i);
  void kill(std::size_t i);
  void stop(std::size_t i);
  void pause(std::size_t i) { (*cluster_)[i].pause(); }
  void resume(std::size_t i) { (*cluster_)[i].resume(); }
  void cut_peers();
  void cut_off(std::size_t i);
  void heal_peers();
  void wipe(std::size_t i) { (*cluster_)[i].wipe_data(); }
  // Waits until each of these that runs is connected to all others of them that run and that it can
  // reach, and to nobody else, as far as it knows. Not for ever: what is wrong shows later.
  void await_connections(const std::set<std::size_t>& members);
  std::string cluster_version(std::size_t i);
  bool enable_auth(std::size_t i);
  Result<void> save_snapshot(std::size_t i);
  bool restore(std::size_t i, const std::string& token);

 private:
  std::size_t connections_of(std::size_t i);
  void shut_out();
  void disconnect() { loop_.run(pool_->close()); }
  Task<Result<std::string>> read_snapshot(std::size_t i);
  std::filesystem::path snapshot_file() const { return cluster_->folder() / "snapshot.db"; }

  rt::Loop loop_;
  std::unique_ptr<etcd::Pool> pool_;
  std::unique_ptr<etcd::Api> api_;
  std::string version_;
  std::unique_ptr<support::EtcdCluster> cluster_;
  std::set<std::size_t> started_;
  std::set<std::size_t> cut_off_;
};

}  // namespace quorate::conform_etcd

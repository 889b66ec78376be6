#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/etcd/process.h"

namespace quorate::etcdsim {

// From the command line and the directory to a member: etcd's rules about `new` and `existing`.
//
// It only protects where a peer happens to answer (E1 to E3, E15): that is what makes it worth
// simulating.
class Bootstrap {
 public:
  explicit Bootstrap(EtcdProcess& process);
  void start();

 private:
  // What a peer says on /members.
  struct Found {
    ClusterId cluster;
    std::vector<etcd::Member> members;
  };
  using OnFound = std::function<void(std::optional<Found>)>;

  bool check_directory();
  void start_on_data();
  void start_new();
  void start_existing();
  void join(const Found& found);
  void forget_the_others();
  bool check_versions(const FormedDir& dir);
  bool asks_old_store(const FormedDir& dir) const;
  void form_new();
  std::vector<std::string> remote_urls() const;
  // Asks the peers one by one; the first answer counts. Calls `done` once.
  void ask_peers(std::vector<std::string> urls, Duration patience, OnFound done);
  bool compatible_with(const Found& found) const;
  std::optional<std::string> check_own_urls() const;

  EtcdProcess& process_;
  EtcdWorld& world_;
  const Config& config_;
};

}  // namespace quorate::etcdsim

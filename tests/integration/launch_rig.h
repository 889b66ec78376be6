#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/launch_contract.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

namespace quorate::test {

// One member that quorate-launch starts, with a folder for its volume and one for its Pod: what
// kubelet would give it.
class LaunchedMember : public support::ServerProcess {
 public:
  LaunchedMember(int ordinal, const std::filesystem::path& folder, const std::string& version);

  // What the operator tells by Pod annotations: changed between starts.
  bool formation_open = true;
  bool started = false;
  std::string cluster_id;
  std::string member_id;
  std::string initial_cluster;
  bool first_pod = true;         // until new_pod()
  std::uint64_t raft_floor = 0;  // 0: not known
  // What else differs from an ordinary start.
  std::vector<std::string> more_flags;
  std::map<std::string, std::string> more_environment;
  std::filesystem::path program;  // of etcd

  void install();                           // the init container
  void start();                             // through quorate-launch
  void start_unguarded(const char* state);  // etcd itself, with the same flags
  void new_pod();                           // the Pod's folder is gone, the volume stays
  void wipe_volume();                       // everything on the volume
  void wipe_data();                         // etcd's data directory, the note stays
  // What a snapshot of the volume does, and its return. To be called while nothing runs.
  void copy_volume(const std::filesystem::path& to) const;
  void put_back(const std::filesystem::path& copy);

  [[nodiscard]] std::string peer_url() const { return "http://" + peer_.text(); }
  [[nodiscard]] std::string client_url() const { return "http://" + client_.text(); }
  [[nodiscard]] const std::filesystem::path& volume() const { return volume_; }
  [[nodiscard]] std::filesystem::path data() const { return volume_ / "data"; }
  [[nodiscard]] bool has_log() const;
  [[nodiscard]] std::string report() const;  // the termination message of the last refusal

  void wait_healthy();
  // Until it knows the cluster's version: whoever joins asks for it.
  void wait_for_cluster_version() const;
  // What it says that it has applied.
  [[nodiscard]] std::uint64_t applied() const;
  // etcdctl against this member alone.
  support::Output etcdctl(const std::vector<std::string>& arguments) const;

 private:
  [[nodiscard]] std::vector<std::string> fixed_flags() const;
  [[nodiscard]] std::map<std::string, std::string> environment() const;

  support::Endpoint client_, peer_, metrics_;
  std::filesystem::path volume_, pod_, control_;
};

// Members of one formation.
class LaunchedCluster {
 public:
  LaunchedCluster(const std::string& version, int size);

  LaunchedMember& operator[](std::size_t index) { return *members_.at(index); }
  void start_all();  // and waits until they are healthy
  // As the operator does once a quorum has formed: cluster and member IDs reach every member.
  void tell_formed();
  // As the operator does when it writes anyway: what each has applied becomes its floor.
  void tell_floors();
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  support::TempDir folder_;
  std::vector<std::unique_ptr<LaunchedMember>> members_;
};

std::filesystem::path launch_program();

// Until it is acknowledged: a leader that has just died is being replaced.
void put(LaunchedMember& member, const std::string& key, const std::string& value);
std::string get(LaunchedMember& member, const std::string& key);  // the value and a newline
// The guard ends with that code, and the operator can read why, and whether data is there.
void expect_refusal(LaunchedMember& member, launch::ExitCode code, const std::string& reason,
                    std::optional<bool> data = std::nullopt);

// One etcd of every minor version, for tests that take a version, and how they are called.
inline auto every_etcd() { return ::testing::Values("3.4.23", "3.5.35", "3.6.16", "3.7.3"); }
std::string etcd_name(const ::testing::TestParamInfo<std::string>& info);

}  // namespace quorate::test

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/support/member_process.h"
#include "tests/support/parts.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

namespace quorate::test {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

inline const std::string kQuorate = std::string(QUORATE_BINARY_DIR) + "/quorate";

// `quorate sandbox` as it is typed, in a folder of the test's own: real etcd in local Pods behind
// the API in memory, worked with by our own commands, by kubectl and by etcdctl.
class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override;  // skips where the kernel allows no fabric
  void TearDown() override;

  // In the foreground; until the nodes are there.
  void start();
  void launch_sandbox();  // waits for nothing
  // SIGKILL to the sandbox alone, as by the kernel. Everything that belongs to it must go by
  // itself: waits for that, and fails the test if somebody stays. Processes of the groups `but` are
  // the test's own.
  void kill(const std::set<pid_t>& but = {}) { kill(sandbox_, dir(), but); }
  static void kill(support::ServerProcess& sandbox, const std::filesystem::path& folder,
                   const std::set<pid_t>& but = {});
  static void kill(pid_t sandbox, const std::filesystem::path& folder, const std::set<pid_t>& but);
  void await_nodes();

  [[nodiscard]] std::string dir() const { return (folder_.path() / "sandbox").string(); }
  [[nodiscard]] std::filesystem::path kubeconfig() const {
    return std::filesystem::path(dir()) / "kubeconfig";
  }
  [[nodiscard]] static std::string etcd_folder() { return support::part("etcd-3.6.16").string(); }

  [[nodiscard]] static std::string kubectl_program() {
    return (support::part("kubectl-1.34.4") / "kubectl").string();
  }

  support::Output run(Words words);
  support::Output kubectl(Words words);
  std::string quorate(Words words);  // has to succeed
  support::Output sandbox(Words words);
  // A line of a shell, after `eval $(quorate sandbox env CLUSTER)`.
  support::Output shell(const std::string& cluster, const std::string& line);
  // etcdctl as a person would use it, from outside. Tried again until it succeeds.
  std::string etcdctl(const std::string& line, std::chrono::milliseconds within = 60s);
  std::string uid(const std::string& cluster);

  support::TempDir folder_;
  support::ServerProcess sandbox_{"sandbox", folder_.path() / "sandbox.out"};
};

// Processes that came from this one, at this moment.
std::vector<pid_t> descendants_of(pid_t pid);

// Processes that have to do with the folder, from wherever they came: by their words, environment,
// place or mounts. Not those of the groups `but`.
std::vector<std::string> processes_at(const std::filesystem::path& folder,
                                      const std::set<pid_t>& but = {});

}  // namespace quorate::test

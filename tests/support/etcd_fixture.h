#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/certs.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

namespace quorate::support {

enum class EtcdSecurity {
  kPlain,
  kMutualTls,  // for clients and for peers, each with an authority of its own
};

struct EtcdOptions {
  std::string version = "3.6.16";  // one that tests/parts/build knows
  int members = 1;
  EtcdSecurity security = EtcdSecurity::kPlain;
  std::vector<std::string> flags = {};  // for every member, after our own: they win
  // What members say to each other goes through a proxy before each, which can be cut.
  bool proxied_peers = false;
};

// The files of mutual TLS.
struct EtcdCredentials {
  std::filesystem::path client_ca;
  KeyPair server;
  KeyPair client;
  std::filesystem::path peer_ca;
  KeyPair peer;
};

// One etcd process with its data folder. Names, ports and the data stay from start to start.
class EtcdMember : public ServerProcess {
 public:
  [[nodiscard]] const Endpoint& client() const { return client_; }
  [[nodiscard]] const Endpoint& peer() const { return peer_; }
  [[nodiscard]] const Endpoint& metrics() const { return metrics_; }  // plain HTTP, also under TLS
  [[nodiscard]] std::string client_url() const;
  [[nodiscard]] std::string peer_url() const;                      // where the others find it
  [[nodiscard]] FaultProxy& peer_proxy() { return *peer_proxy_; }  // only with proxied_peers
  [[nodiscard]] const std::filesystem::path& data() const { return data_; }

  // Starts etcd and does not wait: a member may have nobody to form a quorum with.
  void start();
  // Waits until this member has answered a linearizable read.
  void wait_healthy(std::chrono::milliseconds within = std::chrono::seconds(30));
  [[nodiscard]] bool healthy() const;

  // What the next start says to etcd about the cluster that it is to form or to join.
  void set_initial_cluster(std::string initial_cluster, std::string state);
  // Flags of this member alone, after those of the cluster.
  void set_flags(std::vector<std::string> flags) { flags_ = std::move(flags); }
  // The program of the next start: an upgrade.
  void set_version(const std::string& version);

  // The data of a member that is not running: lost, saved, or put back.
  void wipe_data();
  void save_data(const std::filesystem::path& folder);
  void replace_data(const std::filesystem::path& folder);

 private:
  friend class EtcdCluster;
  EtcdMember(std::string name, const std::filesystem::path& folder, const EtcdOptions& options,
             std::optional<EtcdCredentials> credentials);
  [[nodiscard]] Look look_at_health() const;
  void require_stopped(const char* operation);

  Endpoint client_, peer_, metrics_;
  std::unique_ptr<FaultProxy> peer_proxy_;
  std::filesystem::path data_;
  std::filesystem::path program_;
  std::vector<std::string> common_flags_, flags_;
  std::optional<EtcdCredentials> credentials_;
  std::string initial_cluster_, state_;
};

// An etcd cluster of real processes on loopback, formed and healthy when the constructor returns.
// Ends them all with itself; logs and data are in a TempDir. Throws FixtureError.
class EtcdCluster {
 public:
  explicit EtcdCluster(EtcdOptions options = {});

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  EtcdMember& operator[](std::size_t index) { return *members_.at(index); }

  // One more member, named and with ports, that is to join. The caller tells etcd of it (member
  // add) and then starts it; it says the members of this fixture as its initial cluster unless told
  // else.
  EtcdMember& add_member();

  // Waits until every running member has answered a linearizable read.
  void wait_healthy(std::chrono::milliseconds within = std::chrono::seconds(30));

  // Runs etcdctl against all members; or etcdutl (not in 3.4), which talks to none.
  Output etcdctl(const std::vector<std::string>& arguments, const std::string& input = "");
  Output etcdctl_at(const EtcdMember& member, const std::vector<std::string>& arguments);
  Output etcdutl(const std::vector<std::string>& arguments);

  [[nodiscard]] const EtcdOptions& options() const { return options_; }
  [[nodiscard]] std::string initial_cluster() const;  // m0=http://...,m1=...
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  // Only with kMutualTls.
  [[nodiscard]] const EtcdCredentials& credentials() const { return credentials_.value(); }
  [[nodiscard]] CertificateAuthority& client_authority() { return *client_authority_; }
  [[nodiscard]] CertificateAuthority& peer_authority() { return *peer_authority_; }

 private:
  void make_credentials();
  EtcdMember& make_member();
  Output control(const std::string& endpoints, const std::vector<std::string>& arguments,
                 const std::string& input);

  EtcdOptions options_;
  TempDir folder_;
  std::unique_ptr<CertificateAuthority> client_authority_, peer_authority_;
  std::optional<EtcdCredentials> credentials_;
  std::vector<std::unique_ptr<EtcdMember>> members_;
};

}  // namespace quorate::support

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/certs.h"
#include "tests/support/etcd_fixture.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"

namespace quorate::support {

// Flags are added after our own, so they win: --etcd-compaction-interval, --watch-cache=false, ...
struct KubeOptions {
  bool controller_manager = false;
  bool scheduler = false;
  std::vector<std::string> api_server_flags = {};
  std::vector<std::string> controller_manager_flags = {};
  std::vector<std::string> scheduler_flags = {};
};

// Who talks to which address, for a kubeconfig file. A token or a client certificate.
struct KubeUser {
  std::string token = {};
  std::optional<KeyPair> certificate = std::nullopt;
  std::optional<Endpoint> server = std::nullopt;  // a proxy in front; else the API server itself
};

// One program of the control plane. It can be stopped, killed and started again on the same port.
class KubeComponent : public ServerProcess {
 public:
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  void start() { launch({.argv = argv_}); }
  void wait_ready(std::chrono::milliseconds within = std::chrono::seconds(60));
  // The arguments of the next start.
  void add_flag(std::string flag) { argv_.push_back(std::move(flag)); }

 private:
  friend class KubeCluster;
  using ServerProcess::ServerProcess;

  Endpoint endpoint_ = free_endpoint();
  std::vector<std::string> argv_;
  std::function<Look()> look_;
};

// A Kubernetes control plane on loopback: an etcd of one member, kube-apiserver with TLS and RBAC,
// and where asked for kube-controller-manager and kube-scheduler. There are no nodes. It is ready
// when the constructor returns. Throws FixtureError.
//
// Without a controller manager nobody makes ServiceAccounts, deletes what has lost its owner, or
// finishes the deletion of namespaces; Pods are then admitted without a ServiceAccount.
class KubeCluster {
 public:
  explicit KubeCluster(KubeOptions options = {});

  [[nodiscard]] std::string url() const { return "https://" + api_server_.endpoint().text(); }
  [[nodiscard]] const std::filesystem::path& ca() const { return authority_.certificate(); }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

  EtcdCluster& etcd() { return etcd_; }  // for compaction behind the server's back
  KubeComponent& api_server() { return api_server_; }
  KubeComponent& controller_manager() { return controller_manager_; }
  KubeComponent& scheduler() { return scheduler_; }
  // Signs client certificates that the API server believes: common name and organization are user
  // and group.
  CertificateAuthority& authority() { return authority_; }

  // A member of system:masters.
  [[nodiscard]] static std::string admin_token() { return "admin-token"; }
  [[nodiscard]] const std::filesystem::path& admin_kubeconfig() const { return admin_kubeconfig_; }
  // Writes a kubeconfig file of this name.
  std::filesystem::path kubeconfig(const std::string& name, const KubeUser& user);
  // A fresh token of an existing ServiceAccount.
  std::string service_account_token(const std::string& name_space, const std::string& name,
                                    std::chrono::seconds valid_for = std::chrono::hours(1));

  // Runs kubectl as the administrator, or with another kubeconfig.
  Output kubectl(const std::vector<std::string>& arguments, const std::string& input = "");
  Output kubectl_as(const std::filesystem::path& kubeconfig,
                    const std::vector<std::string>& arguments, const std::string& input = "");
  // Creates or changes objects; throws when they are refused.
  void apply(const std::string& manifests);

 private:
  void prepare_api_server();
  void prepare_controller_manager();
  void prepare_scheduler();
  Look ask_health(const Endpoint& endpoint, const std::string& path);
  std::vector<std::string> serving_flags(const KubeComponent& component) const;

  KubeOptions options_;
  TempDir folder_;
  EtcdCluster etcd_;
  CertificateAuthority authority_;
  KeyPair serving_;
  KubeComponent api_server_, controller_manager_, scheduler_;
  std::filesystem::path admin_kubeconfig_;
};

}  // namespace quorate::support

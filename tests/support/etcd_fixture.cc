#include "tests/support/etcd_fixture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/fixture_error.h"
#include "tests/support/http_get.h"
#include "tests/support/parts.h"
#include "tests/support/wait.h"

namespace quorate::support {
namespace {

namespace fs = std::filesystem;

const char* scheme(bool tls) { return tls ? "https" : "http"; }

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::vector<std::string> tls_flags(const EtcdCredentials& files) {
  return {"--client-cert-auth",
          "--trusted-ca-file=" + files.client_ca.string(),
          "--cert-file=" + files.server.certificate.string(),
          "--key-file=" + files.server.key.string(),
          "--peer-client-cert-auth",
          "--peer-trusted-ca-file=" + files.peer_ca.string(),
          "--peer-cert-file=" + files.peer.certificate.string(),
          "--peer-key-file=" + files.peer.key.string()};
}

}  // namespace

EtcdMember::EtcdMember(std::string name, const fs::path& folder, const EtcdOptions& options,
                       std::optional<EtcdCredentials> credentials)
    : ServerProcess(name, folder / (name + ".log")),
      client_(free_endpoint()),
      peer_(free_endpoint()),
      metrics_(free_endpoint()),
      data_(folder / (name + ".data")),
      common_flags_(options.flags),
      credentials_(std::move(credentials)) {
  if (options.proxied_peers) peer_proxy_ = std::make_unique<FaultProxy>(peer_);
  set_version(options.version);
}

std::string EtcdMember::client_url() const {
  return fmt::format("{}://{}", scheme(credentials_.has_value()), client_.text());
}

std::string EtcdMember::peer_url() const {
  const Endpoint& found_at = peer_proxy_ ? peer_proxy_->endpoint() : peer_;
  return fmt::format("{}://{}", scheme(credentials_.has_value()), found_at.text());
}

void EtcdMember::set_version(const std::string& version) {
  program_ = part("etcd-" + version) / "etcd";
}

void EtcdMember::set_initial_cluster(std::string initial_cluster, std::string state) {
  initial_cluster_ = std::move(initial_cluster);
  state_ = std::move(state);
}

void EtcdMember::start() {
  std::vector<std::string> argv = {
      program_,
      "--name=" + name(),
      "--data-dir=" + data_.string(),
      "--listen-client-urls=" + client_url(),
      "--advertise-client-urls=" + client_url(),
      fmt::format("--listen-peer-urls={}://{}", scheme(credentials_.has_value()), peer_.text()),
      "--initial-advertise-peer-urls=" + peer_url(),
      "--listen-metrics-urls=http://" + metrics_.text(),
      "--initial-cluster=" + initial_cluster_,
      "--initial-cluster-state=" + state_,
  };
  if (credentials_) append(argv, tls_flags(*credentials_));
  append(argv, common_flags_);
  append(argv, flags_);
  launch({.argv = std::move(argv)});
}

// In every version /health is a linearizable read.
Look EtcdMember::look_at_health() const {
  const auto answer = http_get(metrics_, "/health");
  if (!answer) return Look(false, "no answer from " + metrics_.text());
  const bool healthy = answer->status == 200 && answer->body.find("\"true\"") != std::string::npos;
  return Look(healthy, answer->body);
}

bool EtcdMember::healthy() const { return look_at_health().holds; }

void EtcdMember::wait_healthy(std::chrono::milliseconds within) {
  await_ready(within, [&] { return look_at_health(); });
}

void EtcdMember::require_stopped(const char* operation) {
  if (running()) throw FixtureError(fmt::format("{} of {}: it is running", operation, name()));
}

void EtcdMember::wipe_data() {
  require_stopped("wipe the data");
  fs::remove_all(data_);
}

void EtcdMember::save_data(const fs::path& folder) {
  require_stopped("save the data");
  fs::copy(data_, folder, fs::copy_options::recursive);
}

void EtcdMember::replace_data(const fs::path& folder) {
  wipe_data();
  fs::copy(folder, data_, fs::copy_options::recursive);
}

EtcdCluster::EtcdCluster(EtcdOptions options) : options_(std::move(options)) {
  if (options_.security == EtcdSecurity::kMutualTls) make_credentials();
  for (int i = 0; i < options_.members; ++i) make_member();
  for (auto& member : members_) {
    member->set_initial_cluster(initial_cluster(), "new");
    member->start();
  }
  wait_healthy();
}

void EtcdCluster::make_credentials() {
  client_authority_ = std::make_unique<CertificateAuthority>(folder() / "client-pki", "clients");
  peer_authority_ = std::make_unique<CertificateAuthority>(folder() / "peer-pki", "peers");
  // On loopback a connection comes from 127.0.0.1, whatever address it goes to, and etcd wants to
  // find the address of a peer in its certificate.
  const Leaf server{
      .common_name = "etcd", .names = {"localhost"}, .addresses = {own_address(), "127.0.0.1"}};
  credentials_ =
      EtcdCredentials{client_authority_->certificate(), client_authority_->issue("server", server),
                      client_authority_->issue("client", {.common_name = "test"}),
                      peer_authority_->certificate(), peer_authority_->issue("peer", server)};
}

EtcdMember& EtcdCluster::make_member() {
  members_.emplace_back(
      new EtcdMember(fmt::format("m{}", members_.size()), folder(), options_, credentials_));
  return *members_.back();
}

EtcdMember& EtcdCluster::add_member() {
  EtcdMember& member = make_member();
  member.set_initial_cluster(initial_cluster(), "existing");
  return member;
}

void EtcdCluster::wait_healthy(std::chrono::milliseconds within) {
  for (auto& member : members_)
    if (member->running()) member->wait_healthy(within);
}

std::string EtcdCluster::initial_cluster() const {
  std::vector<std::string> all;
  for (const auto& member : members_) all.push_back(member->name() + "=" + member->peer_url());
  return fmt::format("{}", fmt::join(all, ","));
}

Output EtcdCluster::etcdctl(const std::vector<std::string>& arguments, const std::string& input) {
  std::vector<std::string> urls;
  for (const auto& member : members_) urls.push_back(member->client_url());
  return control(fmt::format("{}", fmt::join(urls, ",")), arguments, input);
}

Output EtcdCluster::etcdctl_at(const EtcdMember& member,
                               const std::vector<std::string>& arguments) {
  return control(member.client_url(), arguments, "");
}

Output EtcdCluster::control(const std::string& endpoints, const std::vector<std::string>& arguments,
                            const std::string& input) {
  std::vector<std::string> argv = {part("etcd-" + options_.version) / "etcdctl",
                                   "--endpoints=" + endpoints};
  if (credentials_)
    append(argv, {"--cacert=" + credentials_->client_ca.string(),
                  "--cert=" + credentials_->client.certificate.string(),
                  "--key=" + credentials_->client.key.string()});
  append(argv, arguments);
  return run({.argv = std::move(argv), .input = input});
}

Output EtcdCluster::etcdutl(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {part("etcd-" + options_.version) / "etcdutl"};
  append(argv, arguments);
  return run({.argv = std::move(argv)});
}

}  // namespace quorate::support

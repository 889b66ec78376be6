#include "tests/integration/conform_etcd_real.h"

#include <algorithm>

#include "base/strings.h"
#include "tests/support/http_get.h"
#include "tests/support/temp_dir.h"

namespace quorate::conform_etcd {

using namespace std::chrono_literals;

namespace {

support::EtcdOptions options_of(const Script& script) {
  support::EtcdOptions options;
  options.version = script.version;
  options.members = script.members;
  options.proxied_peers = script.has(Step::Kind::kCut) || script.has(Step::Kind::kCutOff);
  if (!script.version.starts_with("3.4.")) options.flags.push_back("--unsafe-no-fsync");
  options.flags.insert(options.flags.end(), script.flags.begin(), script.flags.end());
  return options;
}

Task<void> wait_until(rt::Clock& clock, Monotonic when) { (void)co_await clock.sleep_until(when); }

}  // namespace

RealBackend::RealBackend(const Script& script)
    : pool_(std::make_unique<etcd::Pool>(loop_.runtime(), etcd::PoolOptions{})),
      api_(etcd::make_client(*pool_)),
      version_(script.version),
      cluster_(std::make_unique<support::EtcdCluster>(options_of(script))) {
  for (std::size_t i = 0; i < size(); ++i) started_.insert(i);
}

RealBackend::~RealBackend() { disconnect(); }

void RealBackend::sleep(Duration time) {
  loop_.run(wait_until(*loop_.runtime().clock, within(time).at));
}

void RealBackend::set_initial_cluster(std::size_t i, std::string initial_cluster,
                                      std::string state) {
  (*cluster_)[i].set_initial_cluster(std::move(initial_cluster), std::move(state));
}

void RealBackend::start(std::size_t i) {
  if (running(i)) return;
  (*cluster_)[i].start();
  started_.insert(i);
  if (!cut_off_.empty()) shut_out();
}

void RealBackend::kill(std::size_t i) {
  if (running(i)) (*cluster_)[i].kill();
  sleep(1ms);  // closed connections are noticed
}

void RealBackend::stop(std::size_t i) {
  if (!running(i)) return;
  disconnect();  // etcd waits for its clients
  (*cluster_)[i].stop();
}

void RealBackend::cut_peers() {
  for (std::size_t i = 0; i < size(); ++i) cut_off(i);
}

void RealBackend::cut_off(std::size_t i) {
  cut_off_.insert(i);
  shut_out();
}

// Nobody gets through to those that are cut off, nor they to anybody.
void RealBackend::shut_out() {
  std::vector<pid_t> processes;
  for (const std::size_t i : cut_off_)
    if (running(i)) processes.push_back((*cluster_)[i].pid());
  for (std::size_t i = 0; i < size(); ++i) {
    auto& proxy = (*cluster_)[i].peer_proxy();
    if (cut_off_.contains(i)) {
      proxy.refuse();
      proxy.cut();
    } else {
      proxy.shut_out(processes);
    }
  }
}

void RealBackend::heal_peers() {
  cut_off_.clear();
  for (std::size_t i = 0; i < size(); ++i) (*cluster_)[i].peer_proxy().heal();
}

// The metric tells exactly what etcd's own checks before a change of members go by.
std::size_t RealBackend::connections_of(std::size_t i) {
  const auto answer = support::http_get((*cluster_)[i].metrics(), "/metrics");
  const std::string page = answer ? answer->body : "";
  std::size_t active = 0;
  for (const auto line : split(page, '\n'))
    active += line.starts_with("etcd_network_active_peers{") && line.ends_with(" 1");
  return active;
}

void RealBackend::await_connections(const std::set<std::size_t>& members) {
  const auto reached_by = [&](std::size_t i) {
    return static_cast<std::size_t>(std::ranges::count_if(members, [&](std::size_t j) {
      return j != i && running(j) && !cut_off_.contains(i) && !cut_off_.contains(j);
    }));
  };
  const auto connected = [&](std::size_t i) {
    return !running(i) || connections_of(i) == reached_by(i);
  };
  for (auto end = within(20s).at; within(0s).at < end; sleep(100ms))
    if (std::ranges::all_of(members, connected)) return;
}

std::string RealBackend::cluster_version(std::size_t i) {
  const auto answer = support::http_get((*cluster_)[i].client(), "/version");
  const std::string_view key = "\"etcdcluster\":\"";
  const auto at = answer ? answer->body.find(key) : std::string::npos;
  if (at == std::string::npos) return "no answer";
  const auto from = at + key.size();
  const auto text = answer->body.substr(from, answer->body.find('"', from) - from);
  return text.substr(0, text.rfind('.'));  // 3.5 of 3.5.0
}

bool RealBackend::enable_auth(std::size_t i) {
  const auto& member = (*cluster_)[i];
  return cluster_->etcdctl_at(member, {"user", "add", "root:secret"}).ok() &&
         cluster_->etcdctl_at(member, {"auth", "enable"}).ok();
}

Task<Result<std::string>> RealBackend::read_snapshot(std::size_t i) {
  CO_TRY(auto stream, co_await api_->snapshot({.endpoint = client_url(i)}, within(5s)));
  std::string bytes;
  for (;;) {
    CO_TRY(auto chunk, co_await stream->read(within(5s)));
    if (!chunk) co_return bytes;
    bytes += chunk->bytes;
  }
}

Result<void> RealBackend::save_snapshot(std::size_t i) {
  TRY(auto bytes, run(read_snapshot(i)));
  support::write_file(snapshot_file(), bytes);
  return {};
}

bool RealBackend::restore(std::size_t i, const std::string& token) {
  const auto& member = (*cluster_)[i];
  std::vector<std::string> arguments = {
      "snapshot",
      "restore",
      snapshot_file().string(),
      "--data-dir=" + member.data().string(),
      "--name=" + member.name(),
      "--initial-cluster=" + member.name() + "=" + member.peer_url(),
      "--initial-advertise-peer-urls=" + member.peer_url(),
      "--initial-cluster-token=" + token};
  const bool old = version_.starts_with("3.4.");
  return (old ? cluster_->etcdctl(arguments) : cluster_->etcdutl(arguments)).ok();
}

}  // namespace quorate::conform_etcd

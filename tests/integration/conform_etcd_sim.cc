#include "tests/integration/conform_etcd_sim.h"

#include "base/check.h"

namespace quorate::conform_etcd {

using namespace std::chrono_literals;

SimBackend::SimBackend(const Script& script, std::uint64_t seed)
    : loop_(seed),
      world_(loop_.actor("etcd")),
      api_(world_, loop_.actor("main"), "client"),
      version_(script.version),
      flags_(script.flags) {
  for (int i = 0; i < script.members; ++i) add_member();
  std::string all;
  for (std::size_t i = 0; i < size(); ++i) all += (i ? "," : "") + name_of(i) + "=" + peer_url(i);
  for (std::size_t i = 0; i < size(); ++i) {
    set_initial_cluster(i, all, "new");
    start(i);
  }
  loop_.run_for(8s);
  // So does whoever waits for real ones, and in 3.4 it leaves a trace.
  for (const auto& member : members_) (void)member.process->probe("/health");
  loop_.run_for(1s);
}

SimBackend::~SimBackend() { loop_.tear_down(); }

std::string SimBackend::peer_url(std::size_t i) const { return "http://" + name_of(i) + ":2380"; }
std::string SimBackend::client_url(std::size_t i) const { return "http://" + name_of(i) + ":2379"; }

bool SimBackend::running(std::size_t i) const {
  const auto& process = members_.at(i).process;
  return process && process->running();
}

void SimBackend::add_member() { members_.push_back({*etcdsim::Version::parse(version_)}); }

void SimBackend::set_initial_cluster(std::size_t i, std::string initial_cluster,
                                     std::string state) {
  members_.at(i).initial_cluster = std::move(initial_cluster);
  members_.at(i).state = std::move(state);
}

void SimBackend::set_version(std::size_t i, const std::string& version) {
  members_.at(i).version = *etcdsim::Version::parse(version);
}

void SimBackend::start(std::size_t i) {
  Member& member = members_.at(i);
  etcdsim::LaunchSpec spec;
  spec.version = member.version;
  spec.argv = {"etcd",
               "--name=" + name_of(i),
               "--data-dir=/data",
               "--listen-client-urls=http://0.0.0.0:2379",
               "--advertise-client-urls=" + client_url(i),
               "--listen-peer-urls=http://0.0.0.0:2380",
               "--initial-advertise-peer-urls=" + peer_url(i),
               "--initial-cluster=" + member.initial_cluster,
               "--initial-cluster-state=" + member.state};
  spec.argv.insert(spec.argv.end(), flags_.begin(), flags_.end());
  spec.volume = member.volume;
  spec.site = name_of(i);
  spec.hosts = {name_of(i)};
  member.process = world_.launch(std::move(spec));
}

void SimBackend::kill(std::size_t i) {
  if (running(i)) members_.at(i).process->kill();
  loop_.run_for(1ms);
}

void SimBackend::stop(std::size_t i) {
  if (!running(i)) return;
  members_.at(i).process->terminate();
  for (int looks = 0; looks < 200 && running(i); ++looks) loop_.run_for(100ms);
}

void SimBackend::cut_peers() {
  for (std::size_t i = 0; i < size(); ++i) cut_off(i);
}

void SimBackend::cut_off(std::size_t i) {
  for (std::size_t j = 0; j < size(); ++j)
    if (j != i) world_.network().cut(name_of(i), name_of(j));
}

std::string SimBackend::cluster_version(std::size_t i) {
  const auto* member = running(i) ? members_.at(i).process->member() : nullptr;
  if (!member || !members_.at(i).process->listening()) return "no answer";
  const auto minor = member->cluster_minor();
  return minor ? "3." + std::to_string(*minor) : "not_decided";
}

bool SimBackend::enable_auth(std::size_t i) {
  using Kind = etcdsim::AuthChange::Kind;
  etcdsim::AuthChange user{.kind = Kind::kAddUser, .user = "root", .password = "secret"};
  etcdsim::AuthChange grant{.kind = Kind::kGrantRole, .user = "root", .role = "root"};
  etcdsim::AuthChange enable{.kind = Kind::kEnable};
  for (auto& change : {user, grant, enable})
    if (!run(api_.change_auth({.endpoint = client_url(i)}, change, within(5s)))) return false;
  return true;
}

Task<Result<std::string>> SimBackend::read_snapshot(std::size_t i) {
  CO_TRY(auto stream, co_await api_.snapshot({.endpoint = client_url(i)}, within(5s)));
  std::string bytes;
  for (;;) {
    CO_TRY(auto chunk, co_await stream->read(within(5s)));
    if (!chunk) co_return bytes;
    bytes += chunk->bytes;
  }
}

Result<void> SimBackend::save_snapshot(std::size_t i) {
  TRY(snapshot_, run(read_snapshot(i)));
  return {};
}

bool SimBackend::restore(std::size_t i, const std::string& token) {
  etcdsim::RestoreOptions options;
  options.name = name_of(i);
  options.initial_cluster[options.name] = {peer_url(i)};
  options.token = token;
  options.version = members_.at(i).version;
  return etcdsim::restore_snapshot(*members_.at(i).volume, snapshot_, options).has_value();
}

}  // namespace quorate::conform_etcd

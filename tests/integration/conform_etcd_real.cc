#include "tests/integration/conform_etcd_real.h"

#include "tests/support/temp_dir.h"

namespace quorate::conform {

using namespace std::chrono_literals;

namespace {

support::EtcdOptions options_of(const Script& script) {
  support::EtcdOptions options;
  options.version = script.version;
  options.members = script.members;
  options.flags = {"--heartbeat-interval=50", "--election-timeout=500"};
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

void RealBackend::wait_for_exit(std::size_t i) {
  for (int looks = 0; looks < 200 && running(i); ++looks) sleep(100ms);
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

}  // namespace quorate::conform

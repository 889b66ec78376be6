#include "tests/sim/etcd/process.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "etcd/endpoint.h"
#include "tests/sim/etcd/bootstrap.h"
#include "tests/sim/etcd/world.h"

namespace quorate::etcdsim {
namespace {

constexpr std::size_t kLinesKept = 20;
constexpr auto kDiskPause = std::chrono::milliseconds(100);  // how soon it is seen that one answers
constexpr int kOk = 200, kNotFound = 404, kUnavailable = 503, kSilence = 0;

bool is_any_address(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

}  // namespace

EtcdProcess::EtcdProcess(EtcdWorld& world, std::uint64_t id, LaunchSpec spec)
    : world_(world), id_(id), spec_(std::move(spec)) {
  CHECK(spec_.volume, "etcd needs a volume");
}

EtcdProcess::~EtcdProcess() = default;

void EtcdProcess::after(Duration delay, std::function<void()> what) {
  world_.after(delay, [weak = weak_from_this(), what = std::move(what)] {
    if (auto self = weak.lock(); self && !self->exit_) self->run(what);
  });
}

void EtcdProcess::run(const std::function<void()>& what) {
  if (paused_ || volume().stalled) return hold(what);
  try {
    what();
  } catch (const Panic& panic) {
    die(2, "panic: " + panic.text);
  }
}

// Until it is resumed, and its disk answers.
void EtcdProcess::hold(const std::function<void()>& what) {
  held_.push_back(what);
  if (paused_ || std::exchange(awaits_disk_, true)) return;
  await_disk();
}

void EtcdProcess::await_disk() {
  world_.after(kDiskPause, [weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self || self->exit_) return;
    if (self->volume().stalled) return self->await_disk();
    self->awaits_disk_ = false;
    self->release();
  });
}

void EtcdProcess::release() {
  for (auto& what : std::exchange(held_, {}))
    if (!exit_) run(what);
}

void EtcdProcess::say(std::string line) {
  log_.push_back(std::move(line));
  if (log_.size() > kLinesKept) log_.erase(log_.begin());
}

void EtcdProcess::die(int code, const std::string& line) {
  if (exit_) return;
  say(line);
  finish({code, fmt::format("{}", fmt::join(log_, "\n"))});
}

void EtcdProcess::finish(Exit exit) {
  if (exit_) return;
  // What was applied is in the log; the database file has what its last batch wrote.
  exit_ = std::move(exit);
  held_.clear();
  listening_ = false;
  world_.unbind(*this);
  for (auto& token : std::exchange(at_exit_, {}))
    if (auto what = token.lock()) (*what)();
  world_.touch();
  world_.after(Duration(0), [self = shared_from_this()] {
    if (self->spec_.on_exit) self->spec_.on_exit(*self->exit_);
  });
}

EtcdProcess::ExitToken EtcdProcess::at_exit(std::function<void()> what) {
  auto token = std::make_shared<std::function<void()>>(std::move(what));
  std::erase_if(at_exit_, [](const auto& each) { return each.expired(); });
  at_exit_.push_back(token);
  return token;
}

void EtcdProcess::kill() { finish({128 + 9, fmt::format("{}", fmt::join(log_, "\n"))}); }

void EtcdProcess::terminate() {
  if (exit_ || std::exchange(stopping_, true)) return;
  auto end = [this] {
    if (member_) {
      member_->stop();
      if (dir_) dir_->database_revision = dir_->state.kv.revision();
    }
    die(0, "received signal; shutting down");
  };
  after(Duration(0), [this, end] {
    if (!member_ || !member_->serves_clients()) return end();
    member_->leave(end);
  });
}

void EtcdProcess::pause() {
  if (exit_ || std::exchange(paused_, true)) return;
  world_.touch();
  world_.after(Duration(0), [] {});
}

void EtcdProcess::resume() {
  if (exit_ || !std::exchange(paused_, false)) return;
  world_.touch();
  // First it is seen who is there; then what was held back arrives.
  world_.after(Duration(0), [weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    self->world_.after(std::chrono::milliseconds(1), [weak] {
      if (auto held = weak.lock()) held->release();
    });
  });
}

bool EtcdProcess::runs_as(ClusterId cluster, MemberId id) const {
  return member() && member()->cluster() == cluster && member()->id() == id;
}

void EtcdProcess::look_again() {
  if (Member* running = member()) running->look_again();
}

// ---- Start ----

void EtcdProcess::begin() {
  auto config = parse_config(spec_.argv, spec_.environment, spec_.version);
  if (!config) return die(config.error() == Code::kInvalid ? 2 : 1, config.error().message());
  config_ = std::move(*config);
  auto client = TlsPort::open(config_.client_tls, spec_.read_file);
  if (!client) return die(1, client.error().text());
  auto peer = TlsPort::open(config_.peer_tls, spec_.read_file);
  if (!peer) return die(1, peer.error().text());
  client_port_ = std::move(*client);
  peer_port_ = std::move(*peer);
  if (!listen()) return die(1, "listen tcp: bind: address already in use");
  bootstrap_ = std::make_unique<Bootstrap>(*this);
  bootstrap_->start();
}

bool EtcdProcess::listen() {
  auto bind = [this](const std::vector<std::string>& urls) {
    for (const auto& url : urls) {
      auto endpoint = etcd::parse_endpoint(url);
      if (!endpoint) return false;
      auto hosts = spec_.hosts;
      if (!is_any_address(endpoint->host)) hosts = {endpoint->host};
      for (const auto& host : hosts)
        if (!world_.bind(host, endpoint->port, *this)) return false;
      // A name leads to the address of its Pod, whatever address is listened on.
      for (const auto& host : spec_.hosts) world_.bind(host, endpoint->port, *this);
    }
    return true;
  };
  listening_ = bind(config_.listen_peer) && bind(config_.listen_client);
  world_.touch();
  return listening_;
}

void EtcdProcess::serve() {
  dir_ = volume().data.formed.share();
  member_ = std::make_unique<Member>(*this, *dir_);
  for (auto& what : std::exchange(waiting_for_peers_, {})) what();
  member_->start();
  world_.touch();
}

void EtcdProcess::when_peers_are_served(std::function<void()> what) {
  if (exit_) return;
  if (member_) return after(Duration(0), std::move(what));
  waiting_for_peers_.push_back([this, what = std::move(what)] { after(Duration(0), what); });
}

bool EtcdProcess::accepts_peer(const EtcdProcess& from, const std::string& url) const {
  auto endpoint = etcd::parse_endpoint(url);
  if (!endpoint || endpoint->tls != peer_port_.secure()) return false;
  if (!endpoint->tls) return true;
  return peer_port_
      .accept(from.peer_port_.as_client(), endpoint->host, world_.runtime().clock->wall(),
              from.spec_.hosts)
      .has_value();
}

// ---- Probes ----

int EtcdProcess::probe(const std::string& path) {
  if (exit_ || !listening_ || paused_ || volume_stalled()) return kSilence;
  Member* running = member();
  const bool modern = path == "/livez" || path == "/readyz";
  if (modern && !traits().has_livez) return kNotFound;
  if (running && running->busy()) return kSilence;
  if (path == "/livez") return kOk;
  if (!running || !running->raft().leader()) return kUnavailable;
  if (path == "/health" && traits().health_is_logged)
    after(Duration(0), [this] { member_->ask_old_store(); });
  const auto& state = running->state();
  if (!state.alarms.empty()) return kUnavailable;
  // A learner answers the health check from what it has; it is never ready.
  const etcd::Member* self = state.membership.find(running->id());
  if (!self || self->learner) return self && path == "/health" ? kOk : kUnavailable;
  return running->raft().leads() || running->heard_of_leader_lately() ? kOk : kUnavailable;
}

}  // namespace quorate::etcdsim

#include "etcd/pool.h"

#include <fmt/format.h>

#include <list>
#include <unordered_map>

#include "base/check.h"
#include "etcd/endpoint.h"
#include "net/http_client.h"
#include "rt/group.h"
#include "rt/signal.h"

namespace quorate::etcd {
namespace {

std::string key_of(const Target& target, const net::Endpoint& endpoint) {
  return fmt::format("{} {} {}", target.endpoint, target.server_name,
                     endpoint.tls ? target.identity->fingerprint() : "-");
}

// TLS contexts by identity, the one used longest ago first to go. A connection keeps its own alive.
class Contexts {
 public:
  explicit Contexts(std::size_t ceiling) : ceiling_(ceiling) {}

  Result<std::shared_ptr<net::TlsContext>> get(const Identity& identity) {
    auto found = by_fingerprint_.find(identity.fingerprint());
    if (found != by_fingerprint_.end()) {
      order_.splice(order_.end(), order_, found->second);
      return found->second->second;
    }
    TRY(auto context, net::TlsContext::for_client(identity.tls(), {"h2"}));
    ++built;
    order_.emplace_back(identity.fingerprint(), std::move(context));
    by_fingerprint_[identity.fingerprint()] = std::prev(order_.end());
    if (order_.size() > ceiling_) {
      by_fingerprint_.erase(order_.front().first);
      order_.pop_front();
    }
    return order_.back().second;
  }

  std::uint64_t built = 0;

 private:
  using Order = std::list<std::pair<std::string, std::shared_ptr<net::TlsContext>>>;
  std::size_t ceiling_;
  Order order_;
  std::unordered_map<std::string, Order::iterator> by_fingerprint_;
};

}  // namespace

// One member's connection: in use, idle, or being closed; until it is closed it has a place.
struct Pool::Entry {
  std::string key;
  std::unique_ptr<net::Client> client;
  std::unique_ptr<net::GrpcChannel> channel;
  int uses = 0;
  bool closing = false;
  Monotonic idle_since{};
  std::list<Entry*>::iterator idle_place;  // in State::idle, if neither in use nor closing
};

struct Pool::State {
  State(rt::Runtime with, PoolOptions chosen)
      : runtime(with),
        options(chosen),
        contexts(chosen.max_contexts),
        changed(with),
        closers(with) {}

  Result<Entry*> make(const std::string& key, const Target& target, net::Endpoint endpoint) {
    net::HttpClientOptions client;
    if (endpoint.tls) {
      TRY(client.tls, contexts.get(*target.identity));
    }
    client.endpoint = std::move(endpoint);
    client.endpoint.server_name = target.server_name;
    client.connect_timeout = options.connect_timeout;
    client.ping_after = options.ping_after;
    client.ping_timeout = options.ping_timeout;
    auto entry = std::make_shared<Entry>();
    entry->key = key;
    entry->client = net::make_client(runtime, std::move(client));
    entry->channel = net::make_grpc_channel(*entry->client);
    entry->idle_place = idle.insert(idle.end(), entry.get());
    ++counters.made;
    return by_key.emplace(key, std::move(entry)).first->second.get();
  }

  std::shared_ptr<Entry> take(Entry& entry) {
    if (entry.uses++ == 0) {
      idle.erase(entry.idle_place);
      ++counters.in_use;
    }
    return by_key.at(entry.key);
  }

  void give_back(Entry& entry) {
    if (--entry.uses > 0) return;
    --counters.in_use;
    entry.idle_since = runtime.clock->now();
    entry.idle_place = idle.insert(idle.end(), &entry);
    changed.notify();
  }

  void start_closing(Entry& entry) {
    idle.erase(entry.idle_place);
    entry.closing = true;
    ++closing;
    closers.spawn("close " + entry.key, close(&entry));
  }

  Task<void> close(Entry* entry) {
    co_await entry->client->close();
    --closing;
    by_key.erase(std::string(entry->key));
    changed.notify();
  }

  rt::Runtime runtime;
  PoolOptions options;
  Contexts contexts;
  std::unordered_map<std::string, std::shared_ptr<Entry>> by_key;
  std::list<Entry*> idle;  // the one idle for longest first
  std::size_t closing = 0;
  std::size_t waiting = 0;  // for a place
  Counters counters;
  rt::Signal changed;
  rt::TaskGroup closers;
};

Pool::Pool(rt::Runtime runtime, PoolOptions options)
    : state_(std::make_shared<State>(runtime, options)) {}
Pool::~Pool() = default;

Pool::Use::Use(std::shared_ptr<State> state, std::shared_ptr<Entry> entry)
    : state_(std::move(state)), entry_(std::move(entry)) {}
Pool::Use::Use(Use&&) noexcept = default;
Pool::Use::~Use() {
  if (entry_) state_->give_back(*entry_);
}
net::GrpcChannel& Pool::Use::channel() { return *entry_->channel; }

// No protocol is offered by ALPN: without one, both of etcd's ports speak HTTP/1.1.
Task<Result<void>> Pool::greet(Target target, rt::Deadline deadline) {
  auto state = state_;
  net::HttpClientOptions options;
  CO_TRY(options.endpoint, parse_endpoint(target.endpoint));
  if (options.endpoint.tls) {
    if (!target.identity)
      co_return fail(Code::kInvalid, fmt::format("endpoint {}: no identity", target.endpoint));
    CO_TRY(options.tls, net::TlsContext::for_client(target.identity->tls(), {}));
  }
  options.endpoint.server_name = target.server_name;
  options.http2 = false;
  options.max_connections = 1;
  options.connect_timeout = state->options.connect_timeout;
  auto client = net::make_client(state->runtime, std::move(options));
  auto answer = co_await client->call({"GET", "/version", {}, {}}, deadline, 1 << 16);
  co_await client->close();
  if (!answer) co_return fail(std::move(answer.error()).as(Code::kUnavailable));
  if (answer->status != 200)
    co_return fail(Code::kUnavailable,
                   fmt::format("{} answers {}", target.endpoint, answer->status));
  co_return Result<void>();
}

Task<Result<Pool::Use>> Pool::use(Target target, rt::Deadline deadline) {
  auto state = state_;
  CO_TRY(auto endpoint, parse_endpoint(target.endpoint));
  if (endpoint.tls && !target.identity)
    co_return fail(Code::kInvalid, fmt::format("endpoint {}: no identity", target.endpoint));
  const std::string key = key_of(target, endpoint);
  for (;;) {
    auto found = state->by_key.find(key);
    bool there = found != state->by_key.end();
    if (there && !found->second->closing) {
      ++state->counters.reused;
      co_return Use(state, state->take(*found->second));
    }
    if (!there && state->by_key.size() < state->options.max_connections) {
      CO_TRY(Entry * made, state->make(key, target, endpoint));
      co_return Use(state, state->take(*made));
    }
    // Each of those who wait for a place has at most one other closed for it.
    ++state->counters.waits;
    ++state->waiting;
    if (!there && state->closing < state->waiting && !state->idle.empty()) {
      ++state->counters.evicted;
      state->start_closing(*state->idle.front());
    }
    auto woken = co_await state->changed.wait(deadline);
    --state->waiting;
    if (!woken) co_return fail(std::move(woken.error()).in("wait for a free connection"));
  }
}

Task<void> Pool::run() {
  for (;;) {
    auto now = state_->runtime.clock->now();
    const auto& idle = state_->idle;
    while (!idle.empty() && idle.front()->idle_since + state_->options.idle_timeout <= now) {
      ++state_->counters.expired;
      state_->start_closing(*idle.front());
    }
    auto next = (idle.empty() ? now : idle.front()->idle_since) + state_->options.idle_timeout;
    if (!co_await state_->runtime.clock->sleep_until(next)) co_return;
  }
}

Task<void> Pool::close() {
  CHECK(state_->counters.in_use == 0, "{} connections are in use", state_->counters.in_use);
  while (!state_->idle.empty()) state_->start_closing(*state_->idle.front());
  co_await state_->closers.join();
}

Pool::Counters Pool::counters() const {
  Counters counters = state_->counters;
  counters.open = state_->by_key.size();
  counters.contexts = state_->contexts.built;
  return counters;
}

}  // namespace quorate::etcd

#include "node/service_network.h"

#include "kube/watcher.h"

namespace quorate::kube {

template class Store<node::ServiceView>;
template class Store<node::BackendView>;
template class Store<node::SliceView>;

}  // namespace quorate::kube

namespace quorate::node {
namespace {

using namespace std::chrono_literals;

// Changes come in bursts: the first of one is answered at once, the others together.
constexpr Duration kBurst = 20ms;
constexpr Duration kRetry = 200ms;

}  // namespace

ServiceNetwork::ServiceNetwork(rt::Runtime runtime, kube::Client& client, Options options)
    : runtime_(runtime),
      client_(client),
      options_(std::move(options)),
      services_(runtime),
      pods_(runtime),
      slices_(runtime),
      changed_(runtime),
      relays_(runtime) {
  auto note = [this](const auto&) {
    dirty_ = true;
    changed_.notify();
  };
  services_.subscribe(note);
  pods_.subscribe(note);
  slices_.subscribe(note);
}

Task<Result<std::unique_ptr<DnsServer>>> ServiceNetwork::take_address() {
  bool told = false;
  while (true) {
    auto server =
        DnsServer::open(runtime_, options_.dns, [this]() -> const DnsZone& { return map_.zone; });
    if (server || server.error().code() != Code::kConflict) co_return server;
    if (!told) options_.log.info("services are made reachable by another process; standing by");
    told = true;
    CO_TRY(co_await runtime_.clock->sleep_until(runtime_.in(options_.stand_by).at));
  }
}

Task<void> ServiceNetwork::run() {
  auto dns = co_await take_address();
  if (!dns) {
    if (dns.error().code() != Code::kCancelled)
      options_.log.error("services cannot be made reachable", {{"error", dns.error()}});
    co_return;
  }
  kube::WatcherOptions all;
  all.log = options_.log;
  kube::Watcher services(runtime_, client_, kube::kServices, all, services_);
  kube::Watcher pods(runtime_, client_, kube::kPods, all, pods_);
  kube::Watcher slices(runtime_, client_, kube::kEndpointSlices, all, slices_);
  rt::TaskGroup group(runtime_);
  group.spawn("services", services.run());
  group.spawn("pods", pods.run());
  group.spawn("slices", slices.run());
  group.spawn("dns", (*dns)->run());
  group.spawn("changes", follow_changes());
  co_await group.join();
  relays_.cancel();
  co_await relays_.join();
  listeners_.clear();
}

Task<void> ServiceNetwork::follow_changes() {
  while (true) {
    while (!dirty_ || !services_.synced() || !pods_.synced() || !slices_.synced())
      if (auto waited = co_await changed_.wait(runtime_.in(kRetry));
          !waited && waited.error().code() == Code::kCancelled)
        co_return;
    dirty_ = false;
    rebuild();
    if (auto slept = co_await runtime_.clock->sleep_until(runtime_.in(kBurst).at); !slept)
      co_return;
  }
}

void ServiceNetwork::rebuild() {
  ServiceFacts facts;
  const auto services = services_.all();
  const auto pods = pods_.all();
  const auto slices = slices_.all();
  facts.services = kube::borrow(services);
  facts.pods = kube::borrow(pods);
  facts.slices = kube::borrow(slices);
  facts.api_server = options_.api_server;
  map_ = map_services(facts);
  update_listeners();
}

void ServiceNetwork::update_listeners() {
  std::erase_if(listeners_, [&](auto& entry) {
    if (map_.backends.contains(entry.first)) return false;
    entry.second->stop();
    turns_.erase(entry.first);
    return true;
  });
  for (const auto& [where, backends] : map_.backends) {
    if (listeners_.contains(where)) continue;
    auto listener = listen_at(where);
    if (!listener) {
      // An address that was given up a moment ago may still be held.
      dirty_ = true;
      if (listener.error().code() != Code::kConflict)
        options_.log.warn("service cannot be made reachable", {{"error", listener.error()}});
      continue;
    }
    auto relay = std::make_shared<Relay>(
        runtime_, std::move(*listener), [this, at = where] { return pick(at); }, options_.log);
    listeners_[where] = relay;
    relays_.spawn("relay", run_relay(std::move(relay)));
  }
}

Task<void> ServiceNetwork::run_relay(std::shared_ptr<Relay> relay) { co_await relay->run(); }

std::optional<SocketAddress> ServiceNetwork::pick(SocketAddress service) {
  auto found = map_.backends.find(service);
  if (found == map_.backends.end() || found->second.empty()) return std::nullopt;
  return found->second[turns_[service]++ % found->second.size()];
}

}  // namespace quorate::node

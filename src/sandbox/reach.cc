#include "sandbox/reach.h"

#include "api/names.h"
#include "apiserver/registry.h"
#include "apiserver/storage.h"
#include "base/strings.h"
#include "json/document.h"

namespace quorate::sandbox {
namespace {

constexpr Bytes kLimit(1 << 20);

}  // namespace

Reach::Reach(rt::Runtime runtime, apiserver::Server& api, HostSockets& host, rt::Files& files,
             std::string file, Log log)
    : runtime_(runtime),
      api_(api),
      host_(host),
      files_(files),
      file_(std::move(file)),
      log_(std::move(log)),
      opening_(runtime, 1),
      relays_(runtime, [this](const std::string& fiber, const std::string& what) {
        log_.error("broken invariant", {{"fiber", fiber}, {"what", what}});
      }) {}

bool Reach::exists(const ObjectKey& cluster) const {
  const auto* kind = api_.registry().find(api::kGroup, api::kVersion, api::kClusterKind.plural);
  return kind && api_.storage().find(*kind, cluster);
}

Task<Result<std::uint16_t>> Reach::open(ObjectKey cluster, rt::Deadline deadline) {
  CO_TRY(const auto turn, co_await opening_.enter(deadline));
  if (const auto found = ports_.find(cluster.text()); found != ports_.end())
    co_return found->second;
  if (!exists(cluster)) co_return fail(Code::kNotFound, "there is no cluster " + cluster.text());
  CO_TRY(const auto port, listen(cluster, 0));
  if (auto kept = co_await write(); !kept) {
    ports_.erase(cluster.text());  // nobody is told of it
    co_return fail(std::move(kept).error());
  }
  co_return port;
}

Result<std::uint16_t> Reach::listen(const ObjectKey& cluster, std::uint16_t wanted) {
  TRY(auto listener, host_.listen(wanted));
  const auto port = node::local_address(listener.get()).port;
  auto relay = std::make_shared<node::Relay>(
      runtime_, std::move(listener), [this, cluster] { return find_service(cluster); }, log_);
  relays_.spawn("reach " + cluster.text(), run_relay(std::move(relay)));
  ports_[cluster.text()] = port;
  log_.info("a port of the host leads to a cluster", {{"cluster", cluster}, {"port", port}});
  return port;
}

Task<void> Reach::run_relay(std::shared_ptr<node::Relay> relay) { co_await relay->run(); }

// Looked up for every caller: a cluster may be deleted and made again.
std::optional<node::SocketAddress> Reach::find_service(const ObjectKey& cluster) {
  const auto record = api_.storage().find(*api_.registry().built_in().services,
                                          {cluster.ns, api::client_service_name(cluster.name)});
  if (!record) return std::nullopt;
  const auto address = node::Ipv4::parse(json::text_or(*record->decoded(), "/spec/clusterIP", ""));
  if (!address) return std::nullopt;
  return node::SocketAddress{*address, api::kClientPort};
}

Task<void> Reach::run() {
  co_await open_again();
  rt::Signal forever(runtime_);
  while (co_await forever.wait(rt::Deadline::never())) {
  }
  relays_.cancel();
  co_await relays_.join();
}

Task<void> Reach::open_again() {
  const auto turn = co_await opening_.enter(rt::Deadline::never());
  if (!turn) co_return;
  const auto before = co_await read();
  for (const auto& [name, port] : before) {
    const auto parts = cut(name, "/");
    if (!parts) continue;
    const ObjectKey cluster{std::string(parts->before), std::string(parts->after)};
    if (!exists(cluster) || ports_.contains(name)) continue;
    if (auto again = listen(cluster, port); !again)
      log_.warn("a cluster loses its port of the host", {{"error", again.error()}});
  }
}

// Nothing, if there is no file or it says nothing: then ports are new.
Task<Reach::Ports> Reach::read() {
  Ports out;
  const auto text = co_await files_.read(file_, kLimit);
  const auto document = text ? json::parse(*text) : Result<json::Value>(json::Value());
  if (!document || !document->is_object()) co_return out;
  for (const auto& [name, port] : document->get_object())
    if (port.is_int64() && port.get_int64() > 0 && port.get_int64() <= 0xffff)
      out.emplace(name, static_cast<std::uint16_t>(port.get_int64()));
  co_return out;
}

Task<Result<void>> Reach::write() {
  json::Object document;
  for (const auto& [name, port] : ports_) document[name] = port;
  return files_.write_atomically(file_, json::render(document), 0600);
}

}  // namespace quorate::sandbox

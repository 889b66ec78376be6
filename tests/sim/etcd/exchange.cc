#include "tests/sim/etcd/exchange.h"

namespace quorate::etcdsim {
namespace {

// Whether a connection to the target could be made now, and to whom.
struct Attempt {
  enum class State { kMade, kWait, kFailed };
  State state = State::kWait;
  std::shared_ptr<Connection> connection;
  std::optional<Error> error;
};

Attempt failed(Error error) { return {Attempt::State::kFailed, nullptr, std::move(error)}; }

Attempt attempt(const Client& client, const etcd::Target& target, const net::Endpoint& endpoint) {
  auto dialed = client.world.dial(client.site, target.endpoint);
  switch (dialed.reach) {
    case EtcdWorld::Reach::kNoName:
      return failed(Error(Code::kUnavailable, "no such host"));
    case EtcdWorld::Reach::kRefused:
      return failed(Error(Code::kUnavailable, "connection refused"));
    case EtcdWorld::Reach::kSilence:
      return {};
    case EtcdWorld::Reach::kAnswered:
      break;
  }
  EtcdProcess& process = *dialed.process;
  // The kernel takes the connection; nobody says hello before etcd serves.
  if (process.paused() || process.volume().stalled || !process.member() ||
      !process.member()->serves_clients())
    return {};
  const bool secure = process.client_port().secure();
  if (endpoint.tls != secure)
    return failed(Error(Code::kUnavailable, "the other side speaks another protocol"));
  auto connection = std::make_shared<Connection>();
  if (secure) {
    const net::TlsIdentity& tls = target.identity->tls();
    const TlsSide side{tls.roots, tls.certificate};
    const std::string name = target.server_name.empty() ? endpoint.host : target.server_name;
    auto shaken =
        process.client_port().accept(side, name, client.world.runtime().clock->wall(), {});
    if (!shaken) return failed(std::move(shaken.error()));
    if (process.config().client_tls.client_auth) connection->user = TlsPort::common_name(side);
  }
  connection->process = process.weak_from_this();
  connection->server_site = process.site();
  return {Attempt::State::kMade, std::move(connection), std::nullopt};
}

std::string key_of(const etcd::Target& target, bool tls) {
  return fmt::format("{} {} {}", target.endpoint, target.server_name,
                     tls ? target.identity->fingerprint() : "-");
}

}  // namespace

Task<Result<std::shared_ptr<Connection>>> connect(std::shared_ptr<Client> client,
                                                  etcd::Target target, rt::Deadline deadline) {
  CO_TRY(auto endpoint, etcd::parse_endpoint(target.endpoint));
  if (endpoint.tls && !target.identity)
    co_return fail(Code::kInvalid, fmt::format("endpoint {}: no identity", target.endpoint));
  const std::string key = key_of(target, endpoint.tls);
  if (auto known = client->connections.find(key); known != client->connections.end()) {
    auto process = known->second->process.lock();
    if (process && !process->exit()) co_return known->second;
    client->connections.erase(known);
  }
  const auto give_up = client->runtime.in(client->connect_timeout);
  for (;;) {
    auto tried = attempt(*client, target, endpoint);
    if (tried.state == Attempt::State::kMade) {
      client->connections[key] = tried.connection;
      co_return tried.connection;
    }
    if (tried.state == Attempt::State::kFailed) co_return fail(std::move(*tried.error));
    auto waited = co_await client->world.changed().wait(deadline.sooner(give_up));
    if (waited) continue;
    if (waited.error() == Code::kCancelled) co_return fail(std::move(waited.error()));
    if (deadline.at <= give_up.at)
      co_return fail(Code::kTimeout, "the deadline passed before the request was sent");
    co_return fail(Code::kUnavailable, "connection timed out");
  }
}

Result<void> check_answerer(const etcd::Header& header, const etcd::Target& target,
                            etcd::Effect effect) {
  if (target.cluster && header.cluster != *target.cluster)
    return fail(etcd::refusal(etcd::Reason::kWrongCluster, effect)
                    .in(fmt::format("expected cluster {}, found {}", target.cluster->text(),
                                    header.cluster.text())));
  if (target.member && header.member != *target.member)
    return fail(etcd::refusal(etcd::Reason::kWrongMember, effect)
                    .in(fmt::format("expected member {}, found {}", target.member->text(),
                                    header.member.text())));
  return {};
}

Task<Result<void>> verify_answerer(std::shared_ptr<Client> client,
                                   std::shared_ptr<Connection> connection, etcd::Target target,
                                   rt::Deadline deadline) {
  if (!target.cluster && !target.member) co_return Result<void>();
  CallInfo call{"status", etcd::Effect::kRead, {.for_learners = true}, false};
  Serve<etcd::Status> serve = [](Member& member, const Caller& caller, Reply<etcd::Status> reply) {
    member.status(caller, std::move(reply));
  };
  auto status = co_await exchange<etcd::Status>(client, connection, std::move(call),
                                                std::move(serve), deadline);
  if (!status) co_return fail(std::move(status.error()));
  co_return check_answerer(status->header, target, etcd::Effect::kRead);
}

}  // namespace quorate::etcdsim

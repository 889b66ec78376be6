#pragma once

// Internal to the api: one question to one member, and its answer.

#include <fmt/format.h>

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "etcd/api.h"
#include "etcd/endpoint.h"
#include "rt/signal.h"
#include "tests/sim/etcd/world.h"

namespace quorate::etcdsim {

struct Connection {
  std::weak_ptr<EtcdProcess> process;
  std::string server_site;
  std::string user;  // by certificate
};

// What a client is: where it stands, and whom it is connected to.
struct Client {
  EtcdWorld& world;
  rt::Runtime runtime;
  std::string site;
  Duration connect_timeout;
  Duration ping_timeout;
  std::map<std::string, std::shared_ptr<Connection>> connections;  // by endpoint and identity
};

struct CallInfo {
  std::string operation;
  etcd::Effect effect = etcd::Effect::kRead;
  Caller caller;
  bool verify = false;  // the answer names no member: ask Status first
};

inline std::string tried(const CallInfo& call, const etcd::Target& target) {
  return fmt::format("{} at {}", call.operation, target.endpoint);
}

// A connection to the target's process that speaks. kTimeout: nothing was sent until the deadline;
// kUnavailable; kForbidden from the handshake; kInvalid for a target that is none.
Task<Result<std::shared_ptr<Connection>>> connect(std::shared_ptr<Client> client,
                                                  etcd::Target target, rt::Deadline deadline);

Result<void> check_answerer(const etcd::Header& header, const etcd::Target& target,
                            etcd::Effect effect);

// The failure of a call whose answer did not come.
inline Error lost_answer(etcd::Effect effect, std::string why) {
  const bool write = effect == etcd::Effect::kWrite;
  return Error(write ? Code::kUnknownOutcome : Code::kUnavailable, std::move(why));
}

template <class T>
struct Slot {
  explicit Slot(rt::Runtime runtime) : changed(runtime) {}
  std::optional<Outcome<T>> outcome;
  bool reset = false;  // the connection broke
  rt::Signal changed;
  EtcdProcess::ExitToken on_exit;
};

template <class T>
using Serve = std::function<void(Member&, const Caller&, Reply<T>)>;

// Sends the question over the connection and waits for the answer.
template <class T>
Task<Result<T>> exchange(std::shared_ptr<Client> client, std::shared_ptr<Connection> connection,
                         CallInfo call, Serve<T> serve, rt::Deadline deadline) {
  auto process = connection->process.lock();
  if (!process || process->exit())
    co_return fail(Error(Code::kUnavailable, "the connection was closed"));
  auto slot = std::make_shared<Slot<T>>(client->runtime);
  EtcdWorld& world = client->world;
  const std::string server = connection->server_site;
  Caller caller = call.caller;
  caller.user = connection->user;

  auto answer = [&world, slot, client, server](Outcome<T> outcome) {
    if (!world.network().takes_answer(client->site, server)) return;
    world.after(world.network().latency(server, client->site),
                [&world, slot, client, server, outcome = std::move(outcome)] {
                  if (!world.network().delivers(server, client->site)) return;
                  slot->outcome = outcome;
                  slot->changed.notify();
                });
  };
  slot->on_exit = process->at_exit([&world, weak = std::weak_ptr<Slot<T>>(slot), client, server] {
    world.after(world.network().latency(server, client->site), [&world, weak, client, server] {
      auto waiting = weak.lock();
      if (!waiting || !world.network().open(server, client->site)) return;
      waiting->reset = true;
      waiting->changed.notify();
    });
  });
  if (world.network().delivers(client->site, server)) {
    process->after(world.network().latency(client->site, server),
                   [raw = process.get(), serve = std::move(serve), caller, answer] {
                     if (!raw->member()) return;
                     serve(*raw->member(), caller, answer);
                     if (raw->member()) raw->member()->settle();
                   });
  }
  process.reset();

  while (!slot->outcome && !slot->reset) {
    auto waited = co_await slot->changed.wait(deadline);
    if (waited) continue;
    if (waited.error() == Code::kCancelled) co_return fail(std::move(waited.error()));
    connection->process.reset();  // under suspicion: the next call connects anew
    co_return fail(lost_answer(call.effect, "the deadline passed before the answer came"));
  }
  if (!slot->outcome) {
    connection->process.reset();
    co_return fail(lost_answer(call.effect, "the connection was reset"));
  }
  if (!*slot->outcome) co_return fail(etcd::refusal(slot->outcome->error(), call.effect));
  co_return std::move(**slot->outcome);
}

inline const etcd::Header* header_of(const etcd::AddedMember& answer) {
  return &answer.list.header;
}
template <class T>
const etcd::Header* header_of(const T& answer) {
  if constexpr (requires {
                  { answer.header } -> std::convertible_to<etcd::Header>;
                })
    return &answer.header;
  else
    return nullptr;
}

Task<Result<void>> verify_answerer(std::shared_ptr<Client> client,
                                   std::shared_ptr<Connection> connection, etcd::Target target,
                                   rt::Deadline deadline);

// Connects, makes sure of who answers, asks, and looks at who answered.
template <class T>
Task<Result<T>> ask(std::shared_ptr<Client> client, etcd::Target target, CallInfo call,
                    Serve<T> serve, rt::Deadline deadline) {
  const std::string what = tried(call, target);
  if (!rt::seam_open(client->runtime, "etcd: " + call.operation))
    co_return fail(Code::kCancelled, "cancelled");
  CO_TRY(auto connection, in(what, co_await connect(client, target, deadline)));
  if (call.effect == etcd::Effect::kWrite || call.verify)
    CO_TRY(in(what, co_await verify_answerer(client, connection, target, deadline)));
  const etcd::Effect effect = call.effect;
  CO_TRY(auto answer, in(what, co_await exchange<T>(client, connection, std::move(call),
                                                    std::move(serve), deadline)));
  if (const etcd::Header* header = header_of(answer))
    CO_TRY(in(what, check_answerer(*header, target, effect)));
  co_return answer;
}

}  // namespace quorate::etcdsim

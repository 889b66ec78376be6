#pragma once

// Internal to the client: one call to one member, on a connection that the pool lent.

#include <fmt/format.h>

#include <concepts>
#include <string>

#include "etcd/api.h"
#include "etcd/codec.h"
#include "etcd/pool.h"

namespace quorate::etcd {

struct Call {
  const char* method;
  std::string operation;  // for errors
  Effect effect;
  // Tells etcd to refuse at once where it has no leader: "no leader" is certain, the time-out that
  // would follow is not.
  bool needs_leader;
};

// What an Error says was tried.
inline std::string tried(const Call& call, const Target& target) {
  return fmt::format("{} at {}", call.operation, target.endpoint);
}

net::GrpcOptions grpc_options(const Call& call);

// Whether the answer came from whom the target names. `effect` is of the call that was answered.
Result<void> check_answerer(const Header& header, const Target& target, Effect effect);

// Asks Status, and fails unless the target's cluster and member answer. Nothing is asked if it
// names none. For calls that change something, and for those whose answers do not name a member.
Task<Result<void>> verify_answerer(Pool::Use& use, const Target& target, rt::Deadline deadline);

// Sends it and gives the answer's bytes, failures mapped. `use` outlives the call.
Task<Result<std::string>> call_unary(Pool::Use& use, Call call, std::string message,
                                     rt::Deadline deadline);

inline const Header* header_of(const AddedMember& answer) { return &answer.list.header; }
inline const Header* header_of(const wire::Empty&) { return nullptr; }
template <class Answer>
  requires requires(const Answer& answer) {
    { answer.header } -> std::convertible_to<Header>;
  }
const Header* header_of(const Answer& answer) {
  return &answer.header;
}

// The same, with the answer read and its sender checked. `target` outlives the call, too.
template <class Answer>
Task<Result<Answer>> ask(Pool::Use& use, const Target& target, Call call, std::string message,
                         rt::Deadline deadline) {
  std::string what = tried(call, target);
  Effect effect = call.effect;
  if (effect == Effect::kWrite || std::same_as<Answer, wire::Empty>)
    CO_TRY(in(what, co_await verify_answerer(use, target, deadline)));
  CO_TRY(auto bytes,
         in(what, co_await call_unary(use, std::move(call), std::move(message), deadline)));
  auto answer = decode<Answer>(bytes);
  if (!answer) {  // it was done, whatever the answer meant to say
    auto error = std::move(answer.error()).in(what);
    co_return fail(effect == Effect::kWrite ? std::move(error).as(Code::kUnknownOutcome) : error);
  }
  if (const Header* header = header_of(*answer))
    CO_TRY(in(what, check_answerer(*header, target, effect)));
  co_return std::move(*answer);
}

}  // namespace quorate::etcd

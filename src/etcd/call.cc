#include "etcd/call.h"

namespace quorate::etcd {
namespace {

const Call kStatus{"/etcdserverpb.Maintenance/Status", "status", Effect::kRead, false};

}  // namespace

net::GrpcOptions grpc_options(const Call& call) {
  net::GrpcOptions options;
  if (call.needs_leader) options.metadata.emplace_back("hasleader", "true");
  return options;
}

Result<void> check_answerer(const Header& header, const Target& target, Effect effect) {
  if (target.cluster && header.cluster != *target.cluster)
    return fail(refusal(Reason::kWrongCluster, effect)
                    .in(fmt::format("expected cluster {}, found {}", target.cluster->text(),
                                    header.cluster.text())));
  if (target.member && header.member != *target.member)
    return fail(refusal(Reason::kWrongMember, effect)
                    .in(fmt::format("expected member {}, found {}", target.member->text(),
                                    header.member.text())));
  return {};
}

Task<Result<std::string>> call_unary(Pool::Use& use, Call call, std::string message,
                                     rt::Deadline deadline) {
  auto answer =
      co_await use.channel().unary(call.method, std::move(message), grpc_options(call), deadline);
  if (!answer) co_return fail(map_failure(std::move(answer.error()), call.effect));
  co_return std::move(answer->message);
}

Task<Result<void>> verify_answerer(Pool::Use& use, const Target& target, rt::Deadline deadline) {
  if (!target.cluster && !target.member) co_return Result<void>();
  CO_TRY(auto bytes, co_await call_unary(use, kStatus, encode(wire::Empty{}), deadline));
  CO_TRY(auto status, decode<Status>(bytes));
  // Nothing has been changed yet, so the sender is judged as that of a read.
  co_return check_answerer(status.header, target, Effect::kRead);
}

}  // namespace quorate::etcd

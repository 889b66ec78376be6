#include "tests/sim/clients.h"

#include <fmt/format.h>

#include "api/names.h"

namespace quorate::sim {

Client::Client(rt::Runtime runtime, etcdsim::EtcdWorld& world, int number, FindEndpoints endpoints,
               FindIdentity identity, History& history, Options options)
    : runtime_(runtime),
      api_(world, runtime, "client-" + std::to_string(number)),
      number_(number),
      endpoints_(std::move(endpoints)),
      identity_(std::move(identity)),
      history_(history),
      options_(options),
      group_(runtime) {}

Client::~Client() = default;

void Client::talk_to(std::string cluster) { group_.spawn("talk", run(std::move(cluster))); }

Task<void> Client::run(std::string cluster) {
  while (true) {
    const auto pause = runtime_.random->jitter(options_.pause, 0.5);
    if (auto slept = co_await runtime_.clock->sleep_until(runtime_.clock->now() + pause); !slept)
      co_return;
    if (!endpoints_(cluster).empty()) co_await operate(cluster);
  }
}

Task<void> Client::operate(std::string cluster) {
  const auto& endpoints = endpoints_(cluster);
  const auto endpoint = endpoints[runtime_.random->below(endpoints.size())];
  etcd::Target target;
  target.identity = identity_(cluster);
  target.endpoint = fmt::format("{}://{}:{}", target.identity ? "https" : "http", endpoint.address,
                                api::kClientPort);
  if (target.identity) target.server_name = fmt::format("{}.{}.svc", cluster, endpoint.pod.ns);
  const auto which = history_.operations.size();
  Operation operation;
  operation.client = number_;
  operation.cluster = cluster;
  operation.life = history_.lives[cluster];
  operation.key =
      fmt::format("key-{}", runtime_.random->below(static_cast<std::uint64_t>(options_.keys)));
  operation.called = runtime_.clock->now();
  const bool writes = runtime_.random->below(2) == 0;
  operation.kind = writes ? Operation::Kind::kPut : Operation::Kind::kGet;
  if (writes) operation.value = fmt::format("{}-{}", number_, ++count_);
  const auto key = operation.key;
  const auto value = operation.value;
  history_.operations.push_back(std::move(operation));
  const auto deadline = runtime_.in(options_.patience);
  if (writes) {
    etcd::PutRequest request;
    request.key = key;
    request.value = value;
    auto put = co_await api_.put(target, request, deadline);
    settle(which, put ? nullptr : &put.error(), put ? put->header : etcd::Header(), value);
  } else {
    etcd::RangeRequest request;
    request.range = etcd::KeyRange::one(key);
    auto got = co_await api_.range(target, request, deadline);
    settle(which, got ? nullptr : &got.error(), got ? got->header : etcd::Header(),
           got && !got->kvs.empty() ? got->kvs.front().value : "");
  }
}

void Client::settle(std::size_t which, const Error* error, const etcd::Header& header,
                    std::string value) {
  auto& operation = history_.operations[which];
  operation.returned = runtime_.clock->now();
  history_.answered.push_back(which);
  if (error) {
    const bool unknown =
        operation.kind == Operation::Kind::kPut && error->code() == Code::kUnknownOutcome;
    operation.outcome = unknown ? Operation::Outcome::kUnknown : Operation::Outcome::kNever;
    return;
  }
  operation.outcome = Operation::Outcome::kOk;
  operation.value = std::move(value);
  operation.revision = header.revision.value();
  operation.cluster_id = header.cluster.value();
  last_success_ = operation.returned;
  if (operation.kind == Operation::Kind::kPut) {
    ++acknowledged_;
    ++history_.acknowledged;
  }
}

}  // namespace quorate::sim

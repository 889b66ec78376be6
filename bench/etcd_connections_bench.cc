// What a member costs who is only connected to, and what a question to it costs: etcd::Pool and
// etcd::Client against a player of 500 members, each on a port of its own, over mutual TLS.

#include "bench/player.h"
#include "etcd/client.h"
#include "etcd/codec.h"
#include "net/grpc_codec.h"
#include "rt/group.h"

namespace quorate::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kMembers = 500;
constexpr int kRounds = 40;  // Status of every member, so often
constexpr std::size_t kAtOnce = 32;
constexpr auto kPatience = 5min;

// Answers Status as a healthy leader of 3.6 does.
class EtcdPlayer final : public net::Handler {
 public:
  EtcdPlayer() {
    etcd::Status status;
    status.header = {ClusterId(0xcdf818194e3a8c32), MemberId(0x8e9e05c52164694d), Revision(4711),
                     RaftTerm(3)};
    status.version = "3.6.16";
    status.storage_version = "3.6.0";
    status.db_size = Bytes(24 << 20);
    status.db_in_use = Bytes(20 << 20);
    status.leader = status.header.member;
    status.raft_index = status.applied_index = RaftIndex(123'456);
    status.term = status.header.term;
    answer_ = net::frame_message(etcd::encode(status));
  }

  Task<void> handle(net::ServerRequest request, net::Responder& responder) override {
    const bool known = request.path == "/etcdserverpb.Maintenance/Status";
    if (!(co_await responder.start(200, {{"content-type", "application/grpc"}}))) co_return;
    if (known && !(co_await responder.write(answer_, rt::Deadline::never()))) co_return;
    (void)co_await responder.finish({{"grpc-status", known ? "0" : "12"}});
  }

 private:
  std::string answer_;
};

using Targets = std::vector<etcd::Target>;

Task<Result<void>> ask(etcd::Api& api, etcd::Target target, rt::Deadline deadline) {
  CO_TRY(auto status, co_await api.status(target, deadline));
  if (!status.leads()) co_return fail(Code::kInternal, "not the answer that was sent");
  co_return Result<void>();
}

Task<Result<void>> ask_all(rt::Runtime runtime, etcd::Api& api, const Targets& targets) {
  std::vector<Task<Result<void>>> questions;
  for (const auto& target : targets) questions.push_back(ask(api, target, runtime.in(kPatience)));
  for (auto& answer : co_await rt::all(runtime, std::move(questions), kAtOnce))
    CO_TRY(std::move(answer));
  co_return Result<void>();
}

Task<Result<void>> measure(rt::Runtime runtime, etcd::Pool& pool, etcd::Api& api, Targets targets) {
  // As many questions to one member first: it pays for the TLS context, the code and the fibers.
  const Targets first(targets.size(), targets.back());
  targets.pop_back();
  CO_TRY(co_await ask_all(runtime, api, first));

  auto cpu = cpu_seconds();
  const auto resident = resident_bytes();
  CO_TRY(co_await ask_all(runtime, api, targets));
  const auto members = static_cast<double>(targets.size());
  print_figure("etcd_connect_cpu", (cpu_seconds() - cpu) * 1e3 / members, "ms");
  print_figure("etcd_connection", kibibytes(resident_bytes() - resident) / members, "KiB");

  cpu = cpu_seconds();
  for (int round = 0; round < kRounds; ++round) CO_TRY(co_await ask_all(runtime, api, targets));
  print_figure("etcd_status_calls", kRounds * members / (cpu_seconds() - cpu), "/CPU-s");
  print_figure("etcd_connection_used", kibibytes(resident_bytes() - resident) / members, "KiB");

  const auto counters = pool.counters();
  if (counters.open != targets.size() + 1 || counters.made != counters.open)
    co_return fail(Code::kInternal, fmt::format("{} connections made, {} open, {} expected",
                                                counters.made, counters.open, targets.size() + 1));
  co_return Result<void>();
}

Task<void> etcd_connections(rt::Runtime runtime, Targets targets) {
  etcd::Pool pool(runtime, {});
  auto api = etcd::make_client(pool);
  auto measured = co_await measure(runtime, pool, *api, std::move(targets));
  co_await pool.close();
  must(std::move(measured));
}

}  // namespace
}  // namespace quorate::bench

int main() {
  using namespace quorate::bench;
  return run_main([] {
    const auto credentials = make_credentials();
    const Player player(kMembers + 1, credentials.server, quorate::net::PeerCheck::kRequired,
                        [](const quorate::rt::Runtime&) { return std::make_unique<EtcdPlayer>(); });
    const auto identity = quorate::etcd::make_identity(credentials.client);
    Targets targets;
    for (const auto port : player.ports())
      targets.push_back({.endpoint = fmt::format("https://127.0.0.1:{}", port),
                         .server_name = kServerName,
                         .identity = identity});
    quorate::rt::Loop loop;
    loop.run(etcd_connections(loop.runtime(), std::move(targets)));
  });
}

#include "node/dns_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "net/address.h"
#include "node/relay.h"
#include "node/socket_io.h"

namespace quorate::node {
namespace {

using namespace std::chrono_literals;
using Direction = net::Socket::Direction;

constexpr Duration kIdle = 10s;  // of a TCP caller
constexpr int kAtOnce = 64;      // questions answered before others have their turn

}  // namespace

DnsServer::DnsServer(rt::Runtime runtime, rt::Fd udp, rt::Fd tcp, Zone zone)
    : runtime_(runtime),
      udp_(runtime, udp.release()),
      tcp_(runtime, tcp.release()),
      zone_(std::move(zone)),
      callers_(runtime) {}

Result<std::unique_ptr<DnsServer>> DnsServer::open(rt::Runtime runtime, SocketAddress where,
                                                   Zone zone) {
  TRY(auto tcp, in("DNS", listen_at(where)));
  where = local_address(tcp.get());  // the same port for both, also if any was asked for
  rt::Fd udp(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!udp) return fail(errno_error("DNS", errno));
  auto address = net::Address::parse(where.address.text(), where.port);
  if (::bind(udp.get(), address->native(), address->size()) != 0) {
    auto error = errno_error("DNS: bind " + address->text(), errno);
    if (errno == EADDRINUSE) error = std::move(error).as(Code::kConflict);
    return fail(std::move(error));
  }
  return std::unique_ptr<DnsServer>(
      new DnsServer(runtime, std::move(udp), std::move(tcp), std::move(zone)));
}

SocketAddress DnsServer::address() const { return local_address(udp_.fd()); }

Task<void> DnsServer::run() {
  rt::TaskGroup group(runtime_);
  group.spawn("udp", serve_udp());
  group.spawn("tcp", serve_tcp());
  co_await group.join();
  callers_.cancel();
  co_await callers_.join();
}

Task<void> DnsServer::serve_udp() {
  std::array<char, 4096> buffer;
  while (true) {
    for (int i = 0; i < kAtOnce; ++i) {
      sockaddr_storage caller{};
      socklen_t size = sizeof caller;
      auto got = ::recvfrom(udp_.fd(), buffer.data(), buffer.size(), 0,
                            reinterpret_cast<sockaddr*>(&caller), &size);
      if (got < 0 && errno == EAGAIN) break;
      if (got < 0) continue;  // an earlier answer that could not be delivered
      auto answer =
          answer_dns(zone_(), {buffer.data(), static_cast<std::size_t>(got)}, DnsTransport::kUdp);
      if (answer.empty()) continue;
      // Lost answers are asked for again: that is how UDP works.
      [[maybe_unused]] auto sent = ::sendto(udp_.fd(), answer.data(), answer.size(), 0,
                                            reinterpret_cast<const sockaddr*>(&caller), size);
    }
    if (auto ready = co_await udp_.wait(Direction::kRead, rt::Deadline::never()); !ready) co_return;
  }
}

Task<void> DnsServer::serve_tcp() {
  while (true) {
    int fd = ::accept4(tcp_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      auto caller = std::make_unique<net::Socket>(runtime_, fd);
      if (callers_.size() < kMaxCallers) callers_.spawn("caller", serve_caller(std::move(caller)));
      continue;
    }
    if (auto ready = co_await tcp_.wait(Direction::kRead, rt::Deadline::never()); !ready) co_return;
  }
}

Task<void> DnsServer::serve_caller(std::unique_ptr<net::Socket> caller) {
  while (true) {
    auto deadline = runtime_.in(kIdle);
    auto head = co_await read_exactly(*caller, 2, deadline);
    if (!head || head->size() < 2) co_return;
    auto length = static_cast<std::size_t>(static_cast<unsigned char>((*head)[0]) << 8 |
                                           static_cast<unsigned char>((*head)[1]));
    auto query = co_await read_exactly(*caller, length, deadline);
    if (!query || query->size() < length) co_return;
    auto answer = answer_dns(zone_(), *query, DnsTransport::kTcp);
    if (answer.empty()) co_return;
    answer.insert(0, {static_cast<char>(answer.size() >> 8), static_cast<char>(answer.size())});
    if (auto written = co_await write_fully(*caller, std::move(answer), deadline); !written)
      co_return;
  }
}

}  // namespace quorate::node

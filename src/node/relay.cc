#include "node/relay.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>

#include "net/connect.h"
#include "node/socket_io.h"

namespace quorate::node {
namespace {

using namespace std::chrono_literals;
using Direction = net::Socket::Direction;

// How long a backend may take to answer, attempt by attempt. One that has just gone does not answer
// at all, and the next in turn is there at once.
constexpr Duration kPatience[] = {250ms, 500ms, 1s, 2s};
constexpr std::size_t kPiece = 16 << 10;
constexpr Duration kFullPause = 100ms;

sockaddr_in native(SocketAddress where) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = where.address.network_order();
  out.sin_port = htons(where.port);
  return out;
}

}  // namespace

Result<rt::Fd> listen_at(SocketAddress where) {
  auto operation = "listen at " + where.address.text() + ":" + std::to_string(where.port);
  rt::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail(errno_error(operation, errno));
  int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  auto address = native(where);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    auto error = errno_error(operation, errno);
    if (errno == EADDRINUSE) error = std::move(error).as(Code::kConflict);
    return fail(std::move(error));
  }
  return fd;
}

SocketAddress local_address(int socket) {
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size);
  return {Ipv4(ntohl(bound.sin_addr.s_addr)), ntohs(bound.sin_port)};
}

Relay::Relay(rt::Runtime runtime, rt::Fd listener, PickBackend pick, Log log)
    : runtime_(runtime),
      listener_(std::make_unique<net::Socket>(runtime, listener.release())),
      pick_(std::move(pick)),
      log_(std::move(log)),
      calls_(runtime, [this](const std::string& fiber, const std::string& what) {
        log_.error("broken invariant", {{"fiber", fiber}, {"what", what}});
      }) {}

void Relay::stop() {
  stopping_ = true;
  if (listener_) listener_->wake();
}

Task<void> Relay::run() {
  while (!stopping_) {
    bool full = calls_.size() >= kMaxCallers;
    int fd = full ? -1 : ::accept4(listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      calls_.spawn("call", serve(std::make_unique<net::Socket>(runtime_, fd)));
      continue;
    }
    // Full, or out of descriptors: a moment later there may be room.
    bool later = full || (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED);
    auto waited = later ? co_await runtime_.clock->sleep_until(runtime_.in(kFullPause).at)
                        : co_await listener_->wait(Direction::kRead, rt::Deadline::never());
    if (!waited) break;
  }
  listener_.reset();
  if (!stopping_) calls_.cancel();
  co_await calls_.join();
}

Task<Result<std::unique_ptr<net::Socket>>> Relay::reach_backend() {
  Result<std::unique_ptr<net::Socket>> reached = fail(Code::kUnavailable, "no backend");
  for (const auto patience : kPatience) {
    auto backend = pick_();
    if (!backend) break;
    auto address = net::Address::parse(backend->address.text(), backend->port);
    reached =
        co_await net::connect(runtime_, std::vector<net::Address>{*address}, runtime_.in(patience));
    if (reached || reached.error() == Code::kCancelled) break;
    log_.debug("backend does not answer",
               {{"backend", backend->address.text()}, {"error", reached.error()}});
  }
  co_return reached;
}

Task<void> Relay::serve(std::unique_ptr<net::Socket> caller) {
  auto other = co_await reach_backend();
  if (!other) co_return;
  rt::TaskGroup both(runtime_);
  both.spawn("to", copy_or_break(*caller, **other));
  both.spawn("from", copy_or_break(**other, *caller));
  co_await both.join();
}

// The end of one side is passed on; the other side may still speak. A broken side breaks the other.
Task<void> Relay::copy_or_break(net::Socket& from, net::Socket& to) {
  auto copied = co_await copy(from, to);
  ::shutdown(to.fd(), copied ? SHUT_WR : SHUT_RDWR);
  if (copied) co_return;
  ::shutdown(from.fd(), SHUT_RDWR);
}

Task<Result<void>> Relay::copy(net::Socket& from, net::Socket& to) {
  while (true) {
    CO_TRY(auto piece, co_await read_some(from, kPiece, rt::Deadline::never()));
    if (piece.empty()) co_return Result<void>();
    CO_TRY(co_await write_fully(to, std::move(piece), rt::Deadline::never()));
  }
}

}  // namespace quorate::node

#include "net/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>

#include "base/check.h"
#include "net/address.h"
#include "net/server_connection.h"
#include "net/tls_stream.h"
#include "rt/signal.h"

namespace quorate::net {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kH2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr int kBacklog = 1024;

// What the kernel does for us on an accepted connection: no delay, and an end to callers that
// vanished without a word.
void tune(int fd) {
  const int on = 1;
  const int idle_seconds = 60;
  const int probe_seconds = 15;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof(idle_seconds));
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe_seconds, sizeof(probe_seconds));
}

Result<int> open_listener(const ServerOptions& options) {
  const auto address = Address::parse(options.address, options.port);
  if (!address)
    return fail(Code::kInvalid, fmt::format("listen address '{}' is no address", options.address));
  const auto what = "listen on " + address->text();
  const int fd = ::socket(address->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(errno_error(what, errno));
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(fd, address->native(), address->size()) != 0 || ::listen(fd, kBacklog) != 0) {
    const int number = errno;
    ::close(fd);
    return fail(errno_error(what, number));
  }
  return fd;
}

Result<Address> local_address(int fd) {
  sockaddr_storage native{};
  socklen_t size = sizeof(native);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&native), &size) != 0)
    return fail(errno_error("own address", errno));
  return Address::from(native);
}

Result<std::uint16_t> port_of(int fd) {
  TRY(auto address, local_address(fd));
  return address.port();
}

// Without port and brackets; empty if the connection is gone already.
std::string local_host(int fd) {
  auto address = local_address(fd);
  if (!address) return "";
  auto text = address->text();
  text.resize(text.rfind(':'));
  return text.starts_with('[') ? text.substr(1, text.size() - 2) : text;
}

class ServerImpl final : public Server {
 public:
  ServerImpl(rt::Runtime runtime, ServerOptions options, int fd, std::uint16_t port)
      : runtime_(runtime),
        options_(std::move(options)),
        port_(port),
        listener_(runtime, fd),
        left_(runtime) {}

  std::uint16_t port() const override { return port_; }
  Task<void> run(Handler& handler) override;

 private:
  struct Open {
    Liveness liveness;
    ByteStream* stream = nullptr;
  };

  Task<void> accept_all(const ServerSide& side, rt::TaskGroup& connections);
  Task<void> serve(const ServerSide& side, std::unique_ptr<Socket> socket, Address peer);
  Task<void> serve_stream(const ServerSide& side, std::unique_ptr<ByteStream> stream,
                          ServerPeer who);
  Task<Result<std::string>> sniff(ByteStream& stream, const Liveness& liveness);
  Task<void> sweep();
  bool secured() const { return options_.tls || options_.tls_for; }

  rt::Runtime runtime_;
  ServerOptions options_;
  std::uint16_t port_;
  Socket listener_;
  std::list<Open> open_;  // past their handshake
  int connections_ = 0;
  rt::Signal left_;  // a connection has ended
};

Task<void> ServerImpl::run(Handler& handler) {
  const ServerSide side{runtime_, options_, handler, options_.log};
  rt::TaskGroup connections(runtime_);
  connections.spawn("sweep idle connections", sweep());
  co_await accept_all(side, connections);
  connections.cancel();
  co_await connections.join();
}

Task<void> ServerImpl::accept_all(const ServerSide& side, rt::TaskGroup& connections) {
  for (;;) {
    Result<void> waited;
    if (connections_ >= options_.max_connections) {
      waited = co_await left_.wait(rt::Deadline::never());
      if (!waited) co_return;
      continue;
    }
    sockaddr_storage native{};
    socklen_t size = sizeof(native);
    const int fd = ::accept4(listener_.fd(), reinterpret_cast<sockaddr*>(&native), &size,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      tune(fd);
      ++connections_;
      auto socket = std::make_unique<Socket>(runtime_, fd);
      connections.spawn("serve a connection",
                        serve(side, std::move(socket), Address::from(native)));
      continue;
    }
    if (errno == EAGAIN) {
      waited = co_await listener_.wait(Socket::Direction::kRead, rt::Deadline::never());
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      side.log.warn("cannot accept connections", {{"error", errno_error("accept", errno)}});
      waited = co_await runtime_.clock->sleep_until(runtime_.in(1s).at);
    }  // anything else befell a connection that is gone already
    if (!waited) co_return;
  }
}

Task<void> ServerImpl::serve(const ServerSide& side, std::unique_ptr<Socket> socket, Address peer) {
  ServerPeer who{peer.text(), local_host(socket->fd()), ""};
  std::unique_ptr<ByteStream> stream;
  if (!secured()) {
    stream = make_plain_stream(std::move(socket));
  } else if (auto tls = options_.tls_for ? options_.tls_for(who.local) : options_.tls) {
    const auto deadline = runtime_.in(options_.idle_timeout);
    auto shaken = co_await tls_accept(std::move(socket), std::move(tls), deadline);
    if (shaken)
      stream = std::move(*shaken);
    else
      side.log.debug("a handshake failed", {{"peer", who.address}, {"error", shaken.error()}});
  }
  if (stream) co_await serve_stream(side, std::move(stream), std::move(who));
  --connections_;
  left_.notify();
}

Task<void> ServerImpl::serve_stream(const ServerSide& side, std::unique_ptr<ByteStream> stream,
                                    ServerPeer who) {
  auto open = open_.emplace(open_.end());
  open->liveness.since = runtime_.clock->now();
  open->stream = stream.get();
  who.certificate = stream->peer_certificate();
  if (stream->protocol() == "h2") {
    co_await serve_h2(side, *stream, std::move(who), open->liveness, "");
  } else if (secured()) {
    co_await serve_h1(side, *stream, std::move(who), open->liveness, "");
  } else {
    auto first = co_await sniff(*stream, open->liveness);
    if (first && *first == kH2Preface)
      co_await serve_h2(side, *stream, std::move(who), open->liveness, std::move(*first));
    else if (first)
      co_await serve_h1(side, *stream, std::move(who), open->liveness, std::move(*first));
  }
  open_.erase(open);
}

// Reads until it is clear whether the caller begins as HTTP/2 does.
Task<Result<std::string>> ServerImpl::sniff(ByteStream& stream, const Liveness& liveness) {
  std::string first;
  while (first.size() < kH2Preface.size() && kH2Preface.starts_with(first)) {
    if (liveness.expired) co_return fail(Code::kTimeout, "nothing came");
    std::array<char, kH2Preface.size()> buffer;
    CO_TRY(auto moved, stream.try_read(std::span(buffer).first(kH2Preface.size() - first.size())));
    if (moved.state == Moved::State::kEnd)
      co_return fail(Code::kUnavailable, "the caller has gone");
    if (moved.state == Moved::State::kBlocked) {
      CO_TRY(co_await stream.wait_to_read(rt::Deadline::never()));
    }
    first.append(buffer.data(), moved.bytes);
  }
  co_return first;
}

Task<void> ServerImpl::sweep() {
  const auto period = std::clamp<Duration>(options_.idle_timeout / 4, 10ms, 15s);
  while (co_await runtime_.clock->sleep_until(runtime_.in(period).at)) {
    const auto now = runtime_.clock->now();
    for (auto& open : open_) {
      auto& liveness = open.liveness;
      if (liveness.working || now < liveness.since + options_.idle_timeout) continue;
      liveness.expired = true;
      open.stream->wake();
    }
  }
}

}  // namespace

Response plain_answer(int status, std::string_view text) {
  Response response;
  response.status = status;
  response.headers = {{"content-type", "text/plain; charset=utf-8"}};
  response.body = fmt::format("{}\n", text);
  return response;
}

Result<std::unique_ptr<Server>> make_server(rt::Runtime runtime, ServerOptions options) {
  int fd = options.listen_fd;
  if (fd >= 0) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
      return fail(errno_error("inherited listener", errno));
  } else {
    TRY(fd, open_listener(options));
  }
  auto port = port_of(fd);
  if (!port) {
    ::close(fd);
    return fail(std::move(port).error());
  }
  return std::make_unique<ServerImpl>(std::move(runtime), std::move(options), fd, *port);
}

}  // namespace quorate::net

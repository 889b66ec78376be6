#include "net/connect.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>

#include "net/resolve.h"

namespace quorate::net {
namespace {

Task<Result<std::unique_ptr<Socket>>> connect_to(rt::Runtime runtime, Address address,
                                                 rt::Deadline deadline) {
  const int fd = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) co_return fail(broken_connection("connect", errno));
  auto socket = std::make_unique<Socket>(runtime, fd);
  // Without it WINDOW_UPDATEs wait for acknowledgements, and streams take twice as long.
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // Being woken proves nothing by itself: only connect() says how it stands.
  while (::connect(fd, address.native(), address.size()) != 0 && errno != EISCONN) {
    if (errno != EINPROGRESS && errno != EALREADY && errno != EINTR)
      co_return fail(broken_connection("connect", errno));
    auto waited = co_await socket->wait(Socket::Direction::kWrite, deadline);
    if (!waited && waited.error() == Code::kTimeout)
      co_return fail(broken_connection("connect", ETIMEDOUT));
    if (!waited) co_return fail(std::move(waited).error());
  }
  co_return socket;
}

}  // namespace

Task<Result<std::unique_ptr<Socket>>> connect(rt::Runtime runtime, std::vector<Address> addresses,
                                              rt::Deadline deadline) {
  std::optional<Error> last;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (deadline.passed(*runtime.clock)) break;
    auto share = deadline;
    if (deadline.at != Monotonic::max()) {
      const auto left = deadline.at - runtime.clock->now();
      share = runtime.in(left / static_cast<Duration::rep>(addresses.size() - i));
    }
    auto socket = co_await connect_to(runtime, addresses[i], share);
    if (socket || socket.error() == Code::kCancelled) co_return socket;
    last = std::move(socket).error();
    if (addresses.size() > 1) last = std::move(*last).in(addresses[i].text());
  }
  if (!last) co_return fail(Code::kTimeout, "deadline passed");
  co_return fail(std::move(*last));
}

Task<Result<std::unique_ptr<Socket>>> connect(rt::Runtime runtime, std::string host,
                                              std::uint16_t port, rt::Deadline deadline) {
  CO_TRY(auto addresses, co_await resolve(runtime, std::move(host), port, deadline));
  co_return co_await connect(runtime, std::move(addresses), deadline);
}

}  // namespace quorate::net

#include "node/socket_io.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace quorate::node {

using Direction = net::Socket::Direction;

Task<Result<std::string>> read_some(net::Socket& from, std::size_t limit, rt::Deadline deadline) {
  std::string out(limit, '\0');
  while (true) {
    auto got = ::read(from.fd(), out.data(), out.size());
    if (got >= 0) {
      out.resize(static_cast<std::size_t>(got));
      co_return out;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) co_return fail(errno_error("read", errno));
    CO_TRY(co_await from.wait(Direction::kRead, deadline));
  }
}

Task<Result<std::string>> read_exactly(net::Socket& from, std::size_t count,
                                       rt::Deadline deadline) {
  std::string out;
  while (out.size() < count) {
    CO_TRY(auto piece, co_await read_some(from, count - out.size(), deadline));
    if (piece.empty()) break;
    out += piece;
  }
  co_return out;
}

namespace {

// Without a signal where nobody reads any more; a terminal raises none.
ssize_t write_quietly(int to, std::string_view bytes) {
  const auto put = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return put < 0 && errno == ENOTSOCK ? ::write(to, bytes.data(), bytes.size()) : put;
}

}  // namespace

Task<Result<void>> write_fully(net::Socket& to, std::string bytes, rt::Deadline deadline) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    auto put = write_quietly(to.fd(), std::string_view(bytes).substr(done));
    if (put >= 0) {
      done += static_cast<std::size_t>(put);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) co_return fail(errno_error("write", errno));
    CO_TRY(co_await to.wait(Direction::kWrite, deadline));
  }
  co_return Result<void>();
}

}  // namespace quorate::node

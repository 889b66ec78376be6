#include "net/socket.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "rt/group.h"

namespace asio = boost::asio;

namespace quorate::net {

struct Socket::Descriptor {
  asio::posix::stream_descriptor handle;
};

Socket::Socket(rt::Runtime runtime, int fd)
    : runtime_(std::move(runtime)),
      fd_(fd),
      descriptor_(new Descriptor{asio::posix::stream_descriptor(runtime_.executor, fd)}) {}

Socket::~Socket() = default;

Task<Result<void>> Socket::wait_long(Direction direction) {
  CO_TRY(co_await rt::check_cancelled());
  const auto type = direction == Direction::kRead ? asio::posix::descriptor_base::wait_read
                                                  : asio::posix::descriptor_base::wait_write;
  // An error here is only ever that the wait was ended: by `wake`, or with the fiber.
  co_await descriptor_->handle.async_wait(type, asio::as_tuple(asio::use_awaitable));
  co_return co_await rt::check_cancelled();
}

Task<Result<void>> Socket::wait(Direction direction, rt::Deadline deadline) {
  if (deadline.at == Monotonic::max()) return wait_long(direction);
  return rt::with_deadline(runtime_, deadline, wait_long(direction));
}

void Socket::wake() {
  boost::system::error_code ignored;
  descriptor_->handle.cancel(ignored);
}

Error broken_connection(std::string_view operation, int number) {
  return Error(Code::kUnavailable, errno_error(operation, number).message()).in(operation);
}

Task<Result<void>> yield() {
  co_await asio::post(asio::use_awaitable);
  co_return co_await rt::check_cancelled();
}

}  // namespace quorate::net

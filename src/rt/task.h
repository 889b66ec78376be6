#pragma once

// The only header that includes Asio.
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace quorate {

// A coroutine. It starts when awaited (or spawned into a TaskGroup), runs on one thread, and ends
// before whoever awaits it goes on. Cancellation reaches it as an Error with Code::kCancelled from
// the wait that it is in, and from every later wait.
template <class T = void>
using Task = boost::asio::awaitable<T>;

namespace rt {

// Where a fiber runs: the real loop, or one actor of a VirtualLoop.
using Executor = boost::asio::any_io_executor;

}  // namespace rt
}  // namespace quorate

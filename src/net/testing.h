#pragma once

// For the tests of this folder: a loop, a server of ours and a client of ours on loopback.

#include <gtest/gtest.h>

#include <functional>

#include "net/http_client.h"
#include "net/server.h"
#include "rt/group.h"
#include "rt/loop.h"
#include "rt/signal.h"

namespace quorate::net::testing {

using namespace std::chrono_literals;

// Far enough away that a test which reaches it has failed.
inline rt::Deadline soon(const rt::Runtime& runtime) { return runtime.in(20s); }

// Looks again after every turn of a short timer until `holds`; false if it never does.
inline Task<bool> eventually(rt::Runtime runtime, std::function<bool()> holds) {
  const auto deadline = soon(runtime);
  while (!holds()) {
    if (deadline.passed(*runtime.clock)) co_return false;
    (void)co_await runtime.clock->sleep_until(runtime.in(1ms).at);
  }
  co_return true;
}

// The value, or an exception with the error's text that fails the test.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// Runs `work`, then `cleanup` in any case, then lets what `work` threw out.
inline Task<void> finally(Task<void> work, std::function<Task<void>()> cleanup) {
  std::exception_ptr broken;
  try {
    co_await std::move(work);
  } catch (...) {
    broken = std::current_exception();
  }
  co_await cleanup();
  if (broken) std::rethrow_exception(broken);
}

inline Task<void> stop(rt::TaskGroup& group) {
  group.cancel();
  co_await group.join();
}

// Runs `body` beside a server that uses `handler`.
inline Task<void> beside_server(rt::Runtime runtime, ServerOptions options, Handler& handler,
                                std::function<Task<void>(std::uint16_t)> body) {
  auto server = must(make_server(runtime, std::move(options)));
  rt::TaskGroup group(runtime);
  group.spawn("server", server->run(handler));
  co_await finally(body(server->port()), [&] { return stop(group); });
}

// Runs `body` with a client, which is closed afterwards.
inline Task<void> with_client(rt::Runtime runtime, HttpClientOptions options,
                              std::function<Task<void>(Client&)> body) {
  auto client = make_client(runtime, std::move(options));
  co_await finally(body(*client), [&] { return client->close(); });
}

inline HttpClientOptions to_port(std::uint16_t port, bool http2 = true) {
  HttpClientOptions options;
  options.endpoint.host = "127.0.0.1";
  options.endpoint.port = port;
  options.endpoint.tls = false;
  options.http2 = http2;
  return options;
}

inline Request get(std::string path) {
  Request request;
  request.path = std::move(path);
  return request;
}

inline Request post(std::string path, std::string body) {
  Request request;
  request.method = "POST";
  request.path = std::move(path);
  request.body = std::move(body);
  return request;
}

}  // namespace quorate::net::testing

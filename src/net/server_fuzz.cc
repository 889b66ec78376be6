// Any bytes from a caller of our server, over HTTP/1.1 and HTTP/2, in pieces of any size.

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "net/memory_stream.h"
#include "net/server_connection.h"
#include "rt/virtual_loop.h"

namespace quorate::net {
namespace {

class Echo final : public Handler {
 public:
  explicit Echo(rt::Runtime runtime) : runtime_(runtime) {}
  Task<void> handle(ServerRequest request, Responder& responder) override {
    CHECK(request.path.starts_with('/') || request.path == "*");
    if (request.path.size() % 2 == 0) {
      Response response{200, {}, std::move(request.body)};
      (void)co_await responder.respond(std::move(response));
      co_return;
    }
    (void)co_await responder.start(200, {});
    (void)co_await responder.write(std::move(request.body), rt::Deadline::never());
    Headers trailers{{"x-end", "yes"}};
    (void)co_await responder.finish(std::move(trailers));
  }

 private:
  rt::Runtime runtime_;
};

void serve(bool http2, std::size_t piece, std::string input) {
  rt::VirtualLoop loop(1, rt::VirtualLoop::Order::kFifo);
  auto runtime = loop.actor("main");
  Echo handler(runtime);
  ServerOptions options;
  options.max_body = 1 << 16;
  options.max_header_bytes = 1 << 13;
  const ServerSide side{runtime, options, handler, Log()};
  Liveness liveness;
  testing::MemoryStream stream(std::move(input), piece);
  if (http2)
    loop.run(serve_h2(side, stream, {}, liveness, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  else
    loop.run(serve_h1(side, stream, {}, liveness, ""));
}

}  // namespace
}  // namespace quorate::net

// The first byte chooses the version, the second how the rest is cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string input(reinterpret_cast<const char*>(data) + 2, size - 2);
  quorate::net::serve(data[0] % 2 == 1, data[1] == 0 ? 1 << 14 : data[1], input);
  return 0;
}

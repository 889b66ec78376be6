// Any bytes from a server of our client, over HTTP/1.1 and HTTP/2: every call and every stream
// comes to an end.

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "net/h1_client.h"
#include "net/h2_client.h"
#include "net/memory_stream.h"
#include "rt/group.h"
#include "rt/virtual_loop.h"

namespace quorate::net {
namespace {

class Nobody final : public H2Owner {
 public:
  void on_ready(H2Connection&) override { ready = true; }
  void on_room_for_one(H2Connection&) override {}
  void on_room_for_many(H2Connection&) override {}
  void on_unusable(H2Connection&) override {}
  bool ready = false;
};

Task<void> read_all(std::unique_ptr<H2ClientStream> stream, rt::Deadline deadline) {
  if (!co_await stream->need_head(deadline)) co_return;
  for (;;) {
    auto piece = co_await stream->read(deadline);
    CHECK(piece || piece.error() == Code::kUnavailable || piece.error() == Code::kInvalid);
    if (!piece || !*piece) co_return;
  }
}

Task<void> collect(std::unique_ptr<H2ClientStream> stream, rt::Deadline deadline) {
  auto response = co_await stream->collect(deadline, 1 << 12);
  CHECK(response || response.error() != Code::kTimeout);
}

// One call, one stream that is read, one that is dropped at once.
void use(H2Connection& connection, rt::TaskGroup& group, rt::Deadline deadline) {
  Request request;
  request.body = "body";
  auto called = connection.open(request, false);
  auto streamed = connection.open(request, false);
  auto dropped = connection.open(request, true);
  if (called) group.spawn("call", collect(std::move(*called), deadline));
  if (streamed) group.spawn("stream", read_all(std::move(*streamed), deadline));
}

Task<void> talk_h2(rt::Runtime runtime, std::size_t piece, std::string input) {
  const auto deadline = runtime.in(std::chrono::hours(1));
  H2ConnectionOptions options{.scheme = "http",
                              .authority = "x",
                              .ping_after = std::chrono::seconds(30),
                              .ping_timeout = std::chrono::seconds(15),
                              .window = 1 << 16,
                              .ready_by = deadline};
  Nobody owner;
  auto stream = std::make_unique<testing::MemoryStream>(std::move(input), piece);
  auto connection = std::make_shared<H2Connection>(runtime, std::move(stream), options, owner);
  rt::TaskGroup group(runtime);
  group.spawn("read", H2Connection::read(connection));
  group.spawn("tend", H2Connection::tend(connection));
  while (!owner.ready && !connection->lost() && co_await yield()) {
  }
  use(*connection, group, deadline);
  co_await group.join();
  CHECK(connection->lost());
}

Task<void> talk_h1(rt::Runtime runtime, std::size_t piece, std::string input) {
  const auto deadline = runtime.in(std::chrono::hours(1));
  auto stream = std::make_unique<testing::MemoryStream>(std::move(input), piece);
  H1Connection connection(runtime, std::move(stream), "x");
  do {
    if (!co_await connection.begin(Request(), deadline)) co_return;
    for (;;) {
      auto part = co_await connection.read(deadline);
      if (!part) co_return;
      if (!*part) break;
    }
  } while (connection.reusable());
}

}  // namespace
}  // namespace quorate::net

// The first byte chooses the version, the second how the rest is cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string input(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t piece = data[1] == 0 ? 1 << 14 : data[1];
  quorate::rt::VirtualLoop loop(1, quorate::rt::VirtualLoop::Order::kFifo);
  auto runtime = loop.actor("main");
  if (data[0] % 2 == 1)
    loop.run(quorate::net::talk_h2(runtime, piece, std::move(input)));
  else
    loop.run(quorate::net::talk_h1(runtime, piece, std::move(input)));
  return 0;
}

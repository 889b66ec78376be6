// Any bytes as WebSocket frames, for both sides: the same comes out whether they arrive at once or
// one by one, and every message that was read reads back after it was written.

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "net/websocket.h"

namespace quorate::net {
namespace {

constexpr std::size_t kLimit = 1 << 12;

void check(WebSocketSide side, std::string_view bytes) {
  WebSocketDecoder whole(side, kLimit);
  WebSocketDecoder crumbs(side, kLimit);
  std::string all(bytes);
  std::string some;
  for (;;) {
    const auto expected = whole.take(all);
    auto got = crumbs.take(some);
    while (got && !*got && !bytes.empty()) {
      some.push_back(bytes.front());
      bytes.remove_prefix(1);
      got = crumbs.take(some);
    }
    CHECK(expected.has_value() == got.has_value());
    if (!expected || !*expected) return;
    CHECK(**expected == **got);
    const auto& message = **got;
    CHECK(message.data.size() <= kLimit);
    if (message.kind == WebSocketMessage::Kind::kClose)
      if (const auto close = parse_close(message.data)) CHECK(render_close(*close) == message.data);
    std::optional<WebSocketMask> mask;
    if (side == WebSocketSide::kServer) mask = WebSocketMask{1, 2, 3, 4};
    auto again = render_frame(message.kind, message.data, mask);
    WebSocketDecoder fresh(side, kLimit);
    CHECK(fresh.take(again)->value() == message);
  }
}

}  // namespace
}  // namespace quorate::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace quorate::net;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(WebSocketSide::kServer, bytes);
  check(WebSocketSide::kClient, bytes);
  return 0;
}

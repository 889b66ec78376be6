#include "net/websocket_stream.h"

namespace quorate::net {
namespace {

using namespace std::chrono_literals;
using Kind = WebSocketMessage::Kind;

constexpr std::size_t kReadSize = 16 << 10;
constexpr Duration kCloseTimeout = 5s;

}  // namespace

WebSocketStream::WebSocketStream(rt::Runtime runtime, WebSocketSide side, ByteStream& connection,
                                 std::string received)
    : runtime_(runtime),
      side_(side),
      connection_(connection),
      buffer_(std::move(received)),
      decoder_(side, kMaxMessage),
      writing_(runtime, 1),
      heard_(runtime.clock->now()) {}

Task<Result<bool>> WebSocketStream::receive(rt::Deadline deadline) {
  CO_TRY(const auto more, co_await read_more(connection_, buffer_, kReadSize, deadline));
  if (more) heard_ = runtime_.clock->now();
  co_return more;
}

Task<Result<bool>> WebSocketStream::receive_or_ping(rt::Deadline deadline) {
  for (;;) {
    auto got = co_await receive(deadline.sooner(runtime_.in(kPingAfter)));
    if (got || got.error() != Code::kTimeout || deadline.passed(*runtime_.clock)) co_return got;
    if (runtime_.clock->now() - heard_ >= kPingAfter + kPingTimeout)
      co_return fail(Code::kUnavailable, "the server does not answer any more");
    CO_TRY(co_await write(Kind::kPing, "", deadline.sooner(runtime_.in(kPingTimeout))));
  }
}

Task<Result<std::optional<WebSocketMessage>>> WebSocketStream::read(rt::Deadline deadline) {
  while (!heard_close_) {
    CO_TRY(auto message, decoder_.take(buffer_));
    if (!message) {
      CO_TRY(const auto more, side_ == WebSocketSide::kClient ? co_await receive_or_ping(deadline)
                                                              : co_await receive(deadline));
      if (!more) co_return fail(Code::kUnavailable, "the other side closed the connection");
      continue;
    }
    if (message->kind == Kind::kText || message->kind == Kind::kBinary) co_return message;
    CO_TRY(co_await answer_control(std::move(*message), deadline));
  }
  co_return std::optional<WebSocketMessage>();
}

Task<Result<void>> WebSocketStream::answer_control(WebSocketMessage message,
                                                   rt::Deadline deadline) {
  if (message.kind == Kind::kPing)
    co_return co_await write(Kind::kPong, std::move(message.data), deadline);
  if (message.kind == Kind::kClose) {
    heard_close_ = true;
    // It has said all that it will: an answer that does not reach it changes nothing.
    static_cast<void>(
        co_await say_close(std::move(message.data), deadline.sooner(runtime_.in(kCloseTimeout))));
  }
  co_return Result<void>();
}

Task<Result<void>> WebSocketStream::write(Kind kind, std::string data, rt::Deadline deadline) {
  auto frame = render_frame(
      kind, data,
      side_ == WebSocketSide::kClient ? std::optional(make_mask(*runtime_.random)) : std::nullopt);
  CO_TRY(const auto place, co_await writing_.enter(deadline));
  co_return co_await write_all(connection_, std::move(frame), deadline);
}

Task<Result<void>> WebSocketStream::close(WebSocketClose why, rt::Deadline deadline) {
  co_return co_await say_close(render_close(why), deadline);
}

Task<Result<void>> WebSocketStream::say_close(std::string data, rt::Deadline deadline) {
  if (said_close_) co_return Result<void>();
  said_close_ = true;
  co_return co_await write(Kind::kClose, std::move(data), deadline);
}

}  // namespace quorate::net

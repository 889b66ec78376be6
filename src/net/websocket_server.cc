#include "net/websocket_server.h"

namespace quorate::net {
namespace {

using Kind = WebSocketMessage::Kind;

constexpr std::size_t kReadSize = 16 << 10;

}  // namespace

WebSocketServer::WebSocketServer(rt::Runtime runtime, Upgraded connection, std::string protocol)
    : stream_(*connection.stream),
      buffer_(std::move(connection.first)),
      protocol_(std::move(protocol)),
      decoder_(WebSocketSide::kServer, kMaxMessage),
      writing_(runtime, 1) {}

Task<Result<std::unique_ptr<WebSocketServer>>> WebSocketServer::accept(
    rt::Runtime runtime, Headers request, Responder& responder,
    std::span<const std::string_view> protocols) {
  CO_TRY(auto agreed, accept_upgrade(request, protocols));
  CO_TRY(auto connection, co_await responder.upgrade(std::move(agreed.headers)));
  co_return std::unique_ptr<WebSocketServer>(
      new WebSocketServer(runtime, std::move(connection), std::move(agreed.protocol)));
}

Task<Result<bool>> WebSocketServer::receive(rt::Deadline deadline) {
  for (;;) {
    const auto before = buffer_.size();
    buffer_.resize(before + kReadSize);
    const auto moved = stream_.try_read({buffer_.data() + before, kReadSize});
    buffer_.resize(before + (moved ? moved->bytes : 0));
    if (!moved || moved->state == Moved::State::kEnd) co_return false;
    if (moved->state == Moved::State::kSome) co_return true;
    CO_TRY(co_await stream_.wait_to_read(deadline));
  }
}

Task<Result<std::optional<WebSocketMessage>>> WebSocketServer::read(rt::Deadline deadline) {
  while (!over_) {
    CO_TRY(auto message, decoder_.take(buffer_));
    if (!message) {
      CO_TRY(const auto more, co_await receive(deadline));
      over_ = !more;
      continue;
    }
    switch (message->kind) {
      case Kind::kText:
      case Kind::kBinary:
        co_return message;
      case Kind::kPing:
        CO_TRY(co_await write(Kind::kPong, std::move(message->data), deadline));
        break;
      case Kind::kPong:
        break;
      case Kind::kClose:
        over_ = true;
        break;
    }
  }
  co_return std::optional<WebSocketMessage>();
}

Task<Result<void>> WebSocketServer::write(Kind kind, std::string data, rt::Deadline deadline) {
  const auto frame = render_frame(kind, data, std::nullopt);
  CO_TRY(const auto place, co_await writing_.enter(deadline));
  for (std::size_t done = 0; done < frame.size();) {
    CO_TRY(const auto moved, stream_.try_write(std::string_view(frame).substr(done)));
    done += moved.bytes;
    if (moved.state == Moved::State::kBlocked) CO_TRY(co_await stream_.wait_to_write(deadline));
  }
  co_return Result<void>();
}

Task<Result<void>> WebSocketServer::close(WebSocketClose why, rt::Deadline deadline) {
  co_return co_await write(Kind::kClose, render_close(why), deadline);
}

}  // namespace quorate::net

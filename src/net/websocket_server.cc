#include "net/websocket_server.h"

namespace quorate::net {

Task<Result<std::unique_ptr<WebSocketServer>>> WebSocketServer::accept(
    rt::Runtime runtime, Headers request, Responder& responder,
    std::span<const std::string_view> protocols) {
  CO_TRY(auto agreed, accept_upgrade(request, protocols));
  CO_TRY(auto connection, co_await responder.upgrade(std::move(agreed.headers)));
  co_return std::unique_ptr<WebSocketServer>(
      new WebSocketServer(runtime, std::move(connection), std::move(agreed.protocol)));
}

Task<Result<std::optional<WebSocketMessage>>> WebSocketServer::read(rt::Deadline deadline) {
  auto message = co_await talk_.read(deadline);
  if (!message && message.error() == Code::kUnavailable)
    co_return std::optional<WebSocketMessage>();
  co_return message;
}

}  // namespace quorate::net

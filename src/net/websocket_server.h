#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "net/server.h"
#include "net/websocket_stream.h"

namespace quorate::net {

// The server's side of a WebSocket, on the connection of a request. It is good until the request's
// handler returns. One fiber may read, and any number may write.
class WebSocketServer {
 public:
  // Answers the request with 101. kInvalid if it is no handshake for one of the protocols: then
  // nothing has been answered yet, and the text is fit for a 400.
  [[nodiscard]] static Task<Result<std::unique_ptr<WebSocketServer>>> accept(
      rt::Runtime runtime, Headers request, Responder& responder,
      std::span<const std::string_view> protocols);

  [[nodiscard]] const std::string& protocol() const { return protocol_; }

  // As those of WebSocketStream; but a client that has gone without a word has closed it, too.
  [[nodiscard]] Task<Result<std::optional<WebSocketMessage>>> read(rt::Deadline deadline);
  [[nodiscard]] Task<Result<void>> write(WebSocketMessage::Kind kind, std::string data,
                                         rt::Deadline deadline) {
    return talk_.write(kind, std::move(data), deadline);
  }
  [[nodiscard]] Task<Result<void>> close(WebSocketClose why, rt::Deadline deadline) {
    return talk_.close(std::move(why), deadline);
  }

 private:
  WebSocketServer(rt::Runtime runtime, Upgraded connection, std::string protocol)
      : protocol_(std::move(protocol)),
        talk_(runtime, WebSocketSide::kServer, *connection.stream, std::move(connection.first)) {}

  std::string protocol_;
  WebSocketStream talk_;
};

}  // namespace quorate::net

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "net/byte_stream.h"
#include "net/server.h"
#include "net/websocket.h"
#include "rt/signal.h"

namespace quorate::net {

// The server's side of a WebSocket, on the connection of a request. It is good until the request's
// handler returns. One fiber may read, and any number may write.
class WebSocketServer {
 public:
  static constexpr std::size_t kMaxMessage = 4 << 20;

  // Answers the request with 101. kInvalid if it is no handshake for one of the protocols: then
  // nothing has been answered yet, and the text is fit for a 400.
  [[nodiscard]] static Task<Result<std::unique_ptr<WebSocketServer>>> accept(
      rt::Runtime runtime, Headers request, Responder& responder,
      std::span<const std::string_view> protocols);

  [[nodiscard]] const std::string& protocol() const { return protocol_; }

  // The next text or binary message; nothing once the client has closed it or has gone. Pings are
  // answered on the way. kInvalid if what came is no WebSocket.
  [[nodiscard]] Task<Result<std::optional<WebSocketMessage>>> read(rt::Deadline deadline);
  [[nodiscard]] Task<Result<void>> write(WebSocketMessage::Kind kind, std::string data,
                                         rt::Deadline deadline);
  // Says that nothing more comes.
  [[nodiscard]] Task<Result<void>> close(WebSocketClose why, rt::Deadline deadline);

 private:
  WebSocketServer(rt::Runtime runtime, Upgraded connection, std::string protocol);
  Task<Result<bool>> receive(rt::Deadline deadline);

  ByteStream& stream_;
  std::string buffer_;  // received, not taken yet
  std::string protocol_;
  WebSocketDecoder decoder_;
  rt::Semaphore writing_;  // frames go out one after the other
  bool over_ = false;      // the client has closed it, or has gone
};

}  // namespace quorate::net

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/tls.h"
#include "net/websocket_stream.h"

namespace quorate::net {

struct WebSocketTarget {
  Endpoint endpoint;
  std::shared_ptr<TlsContext> tls;     // required if endpoint.tls
  Request request;                     // a GET: path and headers, credentials among them
  std::vector<std::string> protocols;  // offered, in order of preference
};

// The client's side of a WebSocket, on a connection of its own, over HTTP/1.1. One fiber may read,
// and any number may write.
class WebSocketClient {
 public:
  // What a server said to the handshake: 101 and a WebSocket, or another answer and none. Errors
  // are those of connections: nothing but a handshake was sent, so kUnavailable and kForbidden.
  struct Opened {
    Response answer;
    std::unique_ptr<WebSocketClient> socket;
  };
  [[nodiscard]] static Task<Result<Opened>> open(rt::Runtime runtime, WebSocketTarget target,
                                                 rt::Deadline deadline);
  ~WebSocketClient();

  [[nodiscard]] const std::string& protocol() const { return protocol_; }  // that was agreed on

  // As those of WebSocketStream.
  [[nodiscard]] Task<Result<std::optional<WebSocketMessage>>> read(rt::Deadline deadline) {
    return talk_->read(deadline);
  }
  [[nodiscard]] Task<Result<void>> write(WebSocketMessage::Kind kind, std::string data,
                                         rt::Deadline deadline) {
    return talk_->write(kind, std::move(data), deadline);
  }

 private:
  explicit WebSocketClient(std::unique_ptr<ByteStream> connection);
  Task<Result<Response>> shake_hands(rt::Runtime runtime, Request request,
                                     std::vector<std::string> protocols, std::string authority,
                                     rt::Deadline deadline);
  Task<Result<Response>> read_refusal(int status, Headers headers, std::string received,
                                      rt::Deadline deadline);

  std::unique_ptr<ByteStream> connection_;
  std::string protocol_;
  std::optional<WebSocketStream> talk_;  // once hands are shaken
};

}  // namespace quorate::net

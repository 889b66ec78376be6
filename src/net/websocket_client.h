#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/byte_stream.h"
#include "net/tls.h"
#include "net/websocket.h"
#include "rt/signal.h"

namespace quorate::net {

struct WebSocketTarget {
  Endpoint endpoint;
  std::shared_ptr<TlsContext> tls;     // required if endpoint.tls
  Request request;                     // a GET: path and headers, credentials among them
  std::vector<std::string> protocols;  // offered, in order of preference
};

// A WebSocket on a connection of its own, over HTTP/1.1.
//
// One fiber may read and others write at the same time. While one reads, the server is pinged where
// it says nothing for `kPingAfter`, and given up when it does not answer.
class WebSocketClient {
 public:
  static constexpr Duration kPingAfter = std::chrono::seconds(15);
  static constexpr Duration kPingTimeout = std::chrono::seconds(30);
  static constexpr std::size_t kMaxMessage = 4 << 20;

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

  // The next text or binary message; nothing once the server has closed it. kUnavailable if the
  // connection broke, kInvalid if what came is no WebSocket.
  [[nodiscard]] Task<Result<std::optional<WebSocketMessage>>> read(rt::Deadline deadline);
  [[nodiscard]] Task<Result<void>> write(WebSocketMessage::Kind kind, std::string data,
                                         rt::Deadline deadline);

 private:
  WebSocketClient(rt::Runtime runtime, std::unique_ptr<ByteStream> stream, std::string received);
  // One attempt to take bytes off the connection; false at its end.
  Task<Result<bool>> receive(rt::Deadline deadline);
  Task<Result<bool>> receive_or_ping(rt::Deadline deadline);
  Task<Result<Response>> shake_hands(Request request, std::vector<std::string> protocols,
                                     std::string authority, rt::Deadline deadline);
  Task<Result<Response>> read_refusal(int status, Headers headers, rt::Deadline deadline);
  Task<Result<void>> send(std::string bytes, rt::Deadline deadline);
  Task<Result<void>> answer_control(WebSocketMessage message, rt::Deadline deadline);

  rt::Runtime runtime_;
  std::unique_ptr<ByteStream> stream_;
  std::string buffer_;  // received, not taken yet
  std::string protocol_;
  WebSocketDecoder decoder_;
  rt::Semaphore writing_;  // frames go out one after the other
  Monotonic heard_;        // when something last came
  bool closed_ = false;    // by the server
};

}  // namespace quorate::net

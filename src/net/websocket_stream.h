#pragma once

#include <optional>
#include <string>

#include "net/byte_stream.h"
#include "net/websocket.h"
#include "rt/signal.h"

namespace quorate::net {

// A WebSocket over a connection whose hands are shaken, for either side of it. The connection
// outlives this. One fiber may read, and any number may write.
//
// A client pings the server where it says nothing for `kPingAfter`, while somebody reads, and gives
// it up when it does not answer.
class WebSocketStream {
 public:
  static constexpr Duration kPingAfter = std::chrono::seconds(15);
  static constexpr Duration kPingTimeout = std::chrono::seconds(30);
  static constexpr std::size_t kMaxMessage = 4 << 20;

  // `received` has come behind the handshake.
  WebSocketStream(rt::Runtime runtime, WebSocketSide side, ByteStream& connection,
                  std::string received);

  // The next text or binary message; nothing once the other side has closed it. Pings and the
  // closing are answered on the way. kUnavailable if the connection ended otherwise, kInvalid if
  // what came is no WebSocket.
  [[nodiscard]] Task<Result<std::optional<WebSocketMessage>>> read(rt::Deadline deadline);
  [[nodiscard]] Task<Result<void>> write(WebSocketMessage::Kind kind, std::string data,
                                         rt::Deadline deadline);
  // Says that nothing more comes; only the first time.
  [[nodiscard]] Task<Result<void>> close(WebSocketClose why, rt::Deadline deadline);

 private:
  // Whether something came: false at the connection's end.
  Task<Result<bool>> receive(rt::Deadline deadline);
  Task<Result<bool>> receive_or_ping(rt::Deadline deadline);
  Task<Result<void>> answer_control(WebSocketMessage message, rt::Deadline deadline);
  Task<Result<void>> say_close(std::string data, rt::Deadline deadline);

  rt::Runtime runtime_;
  WebSocketSide side_;
  ByteStream& connection_;
  std::string buffer_;  // received, not taken yet
  WebSocketDecoder decoder_;
  rt::Semaphore writing_;  // frames go out one after the other
  Monotonic heard_;        // when something last came
  bool said_close_ = false;
  bool heard_close_ = false;
};

}  // namespace quorate::net

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/http.h"

namespace quorate::net {

// WebSocket (RFC 6455) on bytes, for both sides; no I/O and no extensions. websocket_stream.h
// speaks it over a connection. Strict: whatever the RFC forbids fails with kInvalid, and the
// connection is over.
//
// A client:  send `upgrade_headers` with a GET, let `check_upgrade` judge the answer, then frames.
// A server:  answer `accept_upgrade`'s headers with status 101, then frames.

// Who we are. A client masks every frame with fresh chance, a server none.
enum class WebSocketSide { kClient, kServer };

// What one side says as a whole. Pieces that a message came in are joined; control messages (the
// last three) may come between the pieces of another one.
struct WebSocketMessage {
  enum class Kind { kText, kBinary, kClose, kPing, kPong };
  Kind kind = Kind::kBinary;
  std::string data;  // of kText valid UTF-8; of kClose what parse_close reads

  friend bool operator==(const WebSocketMessage&, const WebSocketMessage&) = default;
};

// Takes messages apart as their bytes come.
class WebSocketDecoder {
 public:
  // `side` is ours: frames of clients must be masked, those of servers must not. `limit` is for one
  // whole message.
  WebSocketDecoder(WebSocketSide side, std::size_t limit) : side_(side), limit_(limit) {}

  // Takes the next whole message from the front of `buffer`. Nothing while it is incomplete.
  // kInvalid if these bytes are no WebSocket, or the message is larger than the limit: the error's
  // status is the code to close with (1002, 1007 or 1009).
  [[nodiscard]] Result<std::optional<WebSocketMessage>> take(std::string& buffer);

 private:
  struct Frame;
  Result<std::optional<Frame>> take_frame(std::string& buffer) const;

  WebSocketSide side_;
  std::size_t limit_;
  std::optional<WebSocketMessage> begun_;  // the pieces so far
};

using WebSocketMask = std::array<std::uint8_t, 4>;

// One message as one frame. A client gives a fresh mask each time (make_mask), a server none.
[[nodiscard]] std::string render_frame(WebSocketMessage::Kind kind, std::string_view data,
                                       std::optional<WebSocketMask> mask);
[[nodiscard]] WebSocketMask make_mask(rt::Random& random);

// The content of a kClose message. No content is code 1005, as the RFC has it; kInvalid for codes
// that must not be sent.
struct WebSocketClose {
  std::uint16_t code = 1000;
  std::string reason;
};
[[nodiscard]] Result<WebSocketClose> parse_close(std::string_view data);
[[nodiscard]] std::string render_close(const WebSocketClose& close);

// --- the handshake

// A client's key, new for every connection, and what the server must answer to it.
[[nodiscard]] std::string make_websocket_key(rt::Random& random);
[[nodiscard]] std::string accept_key(std::string_view key);

// What a client adds to its GET. `protocols` in order of preference.
[[nodiscard]] Headers upgrade_headers(std::string_view key,
                                      std::span<const std::string_view> protocols);
// The protocol that the server chose; kInvalid if this answer does not begin a WebSocket.
[[nodiscard]] Result<std::string> check_upgrade(int status, const Headers& headers,
                                                std::string_view key,
                                                std::span<const std::string_view> protocols);

// Whether the request wants to become a WebSocket.
[[nodiscard]] bool asks_for_websocket(const Headers& request);
// The first of our `protocols` that the caller offers, and the headers of the answer 101. kInvalid
// if the request is malformed, or offers none of them.
struct WebSocketUpgrade {
  std::string protocol;
  Headers headers;
};
[[nodiscard]] Result<WebSocketUpgrade> accept_upgrade(const Headers& request,
                                                      std::span<const std::string_view> protocols);

}  // namespace quorate::net

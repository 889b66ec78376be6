#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/http.h"

namespace quorate::net {

using StreamId = std::int32_t;

// Error codes of HTTP/2 that mean something to us; the peer may send any number.
struct H2Code {
  static constexpr std::uint32_t kNoError = 0;
  static constexpr std::uint32_t kProtocolError = 1;
  static constexpr std::uint32_t kInternalError = 2;
  static constexpr std::uint32_t kRefusedStream = 7;
  static constexpr std::uint32_t kCancel = 8;
  static constexpr std::uint32_t kEnhanceYourCalm = 11;
  static constexpr std::uint32_t kHttp11Required = 13;
};
std::string_view h2_code_name(std::uint32_t code);

// What a session tells its owner. Called from inside `H2Session::receive` and
// `H2Session::next_output`; the owner may call the session's submitting functions in it, but
// neither of these two, and must not throw.
class H2Listener {
 public:
  // A request's or a final response's head, pseudo-headers included. `too_large` = fields beyond
  // the limit were dropped.
  virtual void on_head(StreamId stream, Headers fields, bool too_large) = 0;
  // The bytes count against the stream's and the connection's window until `consume`.
  virtual void on_data(StreamId stream, std::string_view bytes) = 0;
  // The peer has ended its side.
  virtual void on_end(StreamId stream, Headers trailers) = 0;
  // The stream is gone, by its end (kNoError) or by a reset of either side.
  virtual void on_closed(StreamId stream, std::uint32_t code) = 0;
  // The head of our own request or response is about to be part of the output, from `offset` of
  // all output on.
  virtual void on_head_leaves(StreamId stream, std::uint64_t offset) = 0;
  // Fills `to` with bytes of our body. `ended` if these are the last. Nothing and not ended: the
  // stream sleeps until `resume`.
  struct Pulled {
    std::size_t bytes = 0;
    bool ended = false;
    bool trailers_follow = false;  // with `ended`: `submit_trailers` was or will be called
  };
  virtual Pulled on_pull(StreamId stream, std::span<char> to) = 0;
  virtual void on_settings() = 0;
  virtual void on_ping_answer() = 0;
  // No stream above `last` was or will be processed; those are closed with kRefusedStream.
  virtual void on_goaway(StreamId last, std::uint32_t code, std::string_view reason) = 0;

 protected:
  ~H2Listener() = default;
};

struct H2SessionOptions {
  bool server = false;
  std::uint32_t stream_window = 1 << 20;
  std::uint32_t connection_window = 1 << 20;
  std::uint32_t max_streams = 100;  // that the peer may open
  std::size_t max_header_bytes = 64 << 10;
};

// One side of an HTTP/2 connection without its transport: bytes in, bytes out. All of nghttp2 is
// behind it.
class H2Session {
 public:
  // `listener` outlives the session.
  H2Session(const H2SessionOptions& options, H2Listener& listener);
  ~H2Session();
  H2Session(const H2Session&) = delete;
  H2Session& operator=(const H2Session&) = delete;

  // Takes bytes from the peer. kCorrupt if they cannot be HTTP/2 at all. Lesser breaches of the
  // protocol are answered in the output, by a reset or by a GOAWAY after which it is `finished`.
  [[nodiscard]] Result<void> receive(std::string_view bytes);
  // The next bytes for the peer, valid until the next call; empty = none now.
  [[nodiscard]] std::string_view next_output();
  [[nodiscard]] bool wants_output() const;
  // Nothing will be read or written any more.
  [[nodiscard]] bool finished() const;
  // What was wrong with what the peer sent; empty = nothing so far.
  [[nodiscard]] const std::string& complaint() const;

  // `fields` begins with the pseudo-headers. kUnavailable if the connection takes no more streams.
  [[nodiscard]] Result<StreamId> submit_request(const Headers& fields, bool has_body);
  void submit_response(StreamId stream, const Headers& fields, bool has_body);
  void submit_trailers(StreamId stream, const Headers& fields);
  void resume(StreamId stream);
  void reset(StreamId stream, std::uint32_t code);
  // `bytes` of what on_data gave are done with: the peer may send as many more.
  void consume(StreamId stream, std::size_t bytes);
  void submit_ping();
  void submit_goaway(std::uint32_t code);

  // How many streams the peer lets us have open at once.
  [[nodiscard]] std::uint32_t peer_max_streams() const;

  struct Impl;  // nghttp2's callbacks need to name it

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace quorate::net

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace quorate::net {

// HTTP/1.1 on bytes, for both sides; no I/O. Strict: what could be read in two ways is refused
// (both lengths given, folded lines, bare line feeds, spaces before colons), so that no proxy in
// between can be made to see other messages than we do.

struct H1RequestHead {
  std::string method;
  std::string target;
  int minor = 1;  // HTTP/1.x
  Headers headers;
};

struct H1ResponseHead {
  int status = 0;
  int minor = 1;
  Headers headers;
};

// Takes one head from the front of `buffer`. Nothing while it is incomplete; kInvalid if it is no
// head or grows beyond `limit`.
[[nodiscard]] Result<std::optional<H1RequestHead>> take_request_head(std::string& buffer,
                                                                     std::size_t limit);
[[nodiscard]] Result<std::optional<H1ResponseHead>> take_response_head(std::string& buffer,
                                                                       std::size_t limit);

// How the end of a body is known.
struct H1Framing {
  enum class Kind { kNone, kLength, kChunked, kUntilClose };
  Kind kind = Kind::kNone;
  std::uint64_t length = 0;
};
[[nodiscard]] Result<H1Framing> request_framing(const Headers& headers);
[[nodiscard]] Result<H1Framing> response_framing(const Headers& headers, int status,
                                                 std::string_view request_method);

// Whether the connection may carry another message after this one.
[[nodiscard]] bool keeps_alive(int minor, const Headers& headers);

// Takes a body apart as its bytes come.
class H1BodyDecoder {
 public:
  H1BodyDecoder(H1Framing framing, std::size_t trailer_limit);

  // Moves content from the front of `buffer` to the end of `content`. kInvalid if it breaks the
  // chunked format. What stands behind the body's end stays in `buffer`.
  [[nodiscard]] Result<void> take(std::string& buffer, std::string& content);
  // The connection was closed by the peer: kUnavailable if the body is not complete by that.
  [[nodiscard]] Result<void> end();

  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  [[nodiscard]] Headers& trailers() { return trailers_; }

 private:
  enum class State { kLength, kChunkSize, kChunkData, kChunkEnd, kTrailers, kUntilClose, kDone };
  // True if the state moved on: go on with what is left.
  Result<bool> step(std::string_view& rest, std::string& content);
  Result<bool> take_chunk_size(std::string_view& rest);
  Result<bool> take_trailers(std::string_view& rest);
  std::size_t take_content(std::string_view& rest, std::string& content);

  State state_;
  std::uint64_t left_ = 0;  // of the length or of the chunk
  std::size_t trailer_limit_;
  Headers trailers_;
};

[[nodiscard]] std::string render_request_head(const Request& request, std::string_view authority);
// kUntilClose and kNone add no field about the length.
[[nodiscard]] std::string render_response_head(int status, const Headers& headers,
                                               const H1Framing& framing, bool keep_alive);
// 101, with the fields of a connection that the others must not have.
[[nodiscard]] std::string render_upgrade_head(const Headers& headers);
[[nodiscard]] std::string render_chunk(std::string_view piece);
[[nodiscard]] std::string render_last_chunk(const Headers& trailers);
// 1xx, 204 and 304 never have a body.
[[nodiscard]] bool status_allows_body(int status);

}  // namespace quorate::net

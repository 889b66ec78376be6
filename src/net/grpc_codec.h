#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/grpc.h"

namespace quorate::net {

// gRPC's own forms, without I/O.

// A message behind its five-byte prefix.
[[nodiscard]] std::string frame_message(std::string_view message);

// Cuts messages out of a body as it arrives.
class GrpcDeframer {
 public:
  explicit GrpcDeframer(std::size_t max_message) : max_message_(max_message) {}

  void add(std::string_view bytes);
  // The next whole message; nothing while it is incomplete. kInvalid if it is larger than allowed,
  // kCorrupt if it is compressed (we never offer that) or not gRPC.
  [[nodiscard]] Result<std::optional<std::string>> next();
  // True between messages: the stream may end here.
  [[nodiscard]] bool empty() const { return buffer_.size() == taken_; }

 private:
  std::size_t max_message_;
  std::string buffer_;
  std::size_t taken_ = 0;
};

// "250m": milliseconds where eight digits suffice, coarser and rounded up beyond.
[[nodiscard]] std::string render_timeout(Duration left);

// grpc-message's form of percent-encoding; what is malformed stays as it is.
[[nodiscard]] std::string percent_decode(std::string_view text);

// Values of names that end in -bin as raw bytes, from base64 with or without padding; a value that
// is none stays as it is.
[[nodiscard]] Headers decode_metadata(Headers fields);
[[nodiscard]] Headers encode_metadata(Headers fields);

// How the call ended: {} for OK, otherwise the Error. `trailers` are those of the stream, or its
// head if that was all there was. Without a grpc-status it is made up from the HTTP status.
[[nodiscard]] Result<void> grpc_outcome(int http_status, const Headers& headers,
                                        const Headers& trailers);

// kCorrupt with the reason if this head cannot begin a gRPC answer.
[[nodiscard]] Result<void> check_grpc_head(int http_status, const Headers& headers);

}  // namespace quorate::net

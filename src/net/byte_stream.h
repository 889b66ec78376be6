#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/socket.h"

namespace quorate::net {

// What one try to read or write came to.
struct Moved {
  enum class State {
    kSome,     // `bytes` were moved, at least one
    kBlocked,  // nothing now: wait, then try again
    kEnd,      // the peer has properly ended its side (reads only)
  };
  State state = State::kSome;
  std::size_t bytes = 0;
};

// A connected stream of bytes, plain or TLS. Tries never wait; waits move nothing. One fiber may
// read and another write at the same time.
//
// Errors are kUnavailable when the connection broke, kForbidden when the peer turned out not to
// accept us (a TLS 1.3 server says so only after our first bytes).
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  [[nodiscard]] virtual Result<Moved> try_read(std::span<char> to) = 0;
  // If it is blocked, part of `from` may be on its way all the same: the next try must begin with
  // the same bytes.
  [[nodiscard]] virtual Result<Moved> try_write(std::string_view from) = 0;

  // Until a blocked try is worth repeating, or `wake`.
  [[nodiscard]] virtual Task<Result<void>> wait_to_read(rt::Deadline deadline) = 0;
  [[nodiscard]] virtual Task<Result<void>> wait_to_write(rt::Deadline deadline) = 0;
  virtual void wake() = 0;

  // Tells the peer that nothing more comes, as far as that needs no wait. No writes after it.
  virtual void say_goodbye() = 0;

  virtual std::string_view protocol() const = 0;     // chosen by ALPN; empty = none
  virtual std::string peer_certificate() const = 0;  // PEM of the verified leaf; empty = none
};

// Appends what comes next to `buffer`, at most `limit` bytes; false at the end.
[[nodiscard]] Task<Result<bool>> read_more(ByteStream& stream, std::string& buffer,
                                           std::size_t limit, rt::Deadline deadline);
// All of it, unless the connection breaks or the time is over: then any part of it.
[[nodiscard]] Task<Result<void>> write_all(ByteStream& stream, std::string bytes,
                                           rt::Deadline deadline);

// Without TLS. `socket` is connected.
std::unique_ptr<ByteStream> make_plain_stream(std::unique_ptr<Socket> socket);

}  // namespace quorate::net

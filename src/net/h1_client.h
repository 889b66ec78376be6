#pragma once

#include <memory>
#include <optional>

#include "net/byte_stream.h"
#include "net/h1_codec.h"

namespace quorate::net {

// One HTTP/1.1 connection of a client. It carries one exchange at a time, driven by the caller's
// fiber.
class H1Connection {
 public:
  H1Connection(rt::Runtime runtime, std::unique_ptr<ByteStream> stream, std::string authority);
  ~H1Connection();

  // Sends a checked request and waits for the answer's head. Errors as HttpClient states them.
  [[nodiscard]] Task<Result<void>> begin(Request request, rt::Deadline deadline);
  const H1ResponseHead& head() const { return head_; }
  // The next piece of the body; nothing at its end. kUnavailable if it broke, kTimeout.
  [[nodiscard]] Task<Result<std::optional<std::string>>> read(rt::Deadline deadline);
  const Headers& trailers() const { return trailers_; }

  // The last exchange has ended and another may follow.
  [[nodiscard]] bool reusable() const { return reusable_; }
  // False if the server has closed it, or said something unasked for, while it was idle.
  [[nodiscard]] bool still_good();
  // Ends the exchange under way: it fails as if the connection had been lost.
  void abandon();
  // Bytes received since it was last asked.
  [[nodiscard]] std::uint64_t take_received() { return std::exchange(received_, 0); }

 private:
  Task<Result<void>> send(std::string bytes, rt::Deadline deadline);
  Task<Result<void>> receive_head(std::string method, rt::Deadline deadline);
  // Waits for bytes and adds them to `buffer_`. False at the end of the connection.
  Task<Result<bool>> receive(rt::Deadline deadline);
  Error no_answer(Error why) const;

  rt::Runtime runtime_;
  std::unique_ptr<ByteStream> stream_;
  std::string authority_;
  std::string buffer_;   // received, not taken yet
  bool handed_ = false;  // a byte of the request may have left
  bool abandoned_ = false;
  bool kept_alive_ = false;  // the server lets us use the connection again
  bool reusable_ = false;
  std::uint64_t received_ = 0;
  H1ResponseHead head_;
  std::optional<H1BodyDecoder> body_;
  Headers trailers_;
};

}  // namespace quorate::net

#pragma once

#include "net/byte_stream.h"
#include "net/h2_session.h"

namespace quorate::net {

// Moves bytes between an HTTP/2 session and its transport, for either side. Never waits.
class H2Wire {
 public:
  // Both outlive it.
  H2Wire(ByteStream& stream, H2Session& session) : stream_(stream), session_(session) {}

  // Gives the session what has arrived, up to an amount after which others should run.
  // kBlocked = that was all; kSome = there may be more. Fails when the connection has ended.
  [[nodiscard]] Result<Moved::State> take_in();
  // Writes what the session has to say. kSome = all of it; kBlocked = the transport is full.
  [[nodiscard]] Result<Moved::State> flush();

  std::uint64_t received() const { return received_; }
  std::uint64_t written() const { return written_; }
  // Bytes of the session's output that the transport may have taken, in full or in part.
  std::uint64_t handed() const { return handed_; }

 private:
  ByteStream& stream_;
  H2Session& session_;
  std::string unsent_;  // output that the transport has not taken yet
  std::uint64_t written_ = 0;
  std::uint64_t handed_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace quorate::net

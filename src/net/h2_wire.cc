#include "net/h2_wire.h"

#include <array>

namespace quorate::net {

namespace {

constexpr std::size_t kBatch = 16 << 10;  // one TLS record
constexpr int kReadsInARow = 16;

}  // namespace

Result<Moved::State> H2Wire::take_in() {
  std::array<char, kBatch> buffer;
  for (int i = 0; i < kReadsInARow; ++i) {
    TRY(auto moved, stream_.try_read(buffer));
    if (moved.state == Moved::State::kBlocked) return moved.state;
    if (moved.state == Moved::State::kEnd)
      return fail(Code::kUnavailable, "the peer closed the connection");
    received_ += moved.bytes;
    TRY(session_.receive(std::string_view(buffer.data(), moved.bytes)));
  }
  return Moved::State::kSome;
}

Result<Moved::State> H2Wire::flush() {
  for (;;) {
    while (unsent_.size() < kBatch) {
      auto chunk = session_.next_output();
      if (chunk.empty()) break;
      unsent_.append(chunk);
    }
    if (unsent_.empty()) return Moved::State::kSome;
    handed_ = written_ + unsent_.size();
    TRY(auto moved, stream_.try_write(unsent_));
    if (moved.state == Moved::State::kBlocked) return moved.state;
    // A TLS peer that refused our certificate takes nothing more.
    if (moved.state == Moved::State::kEnd)
      return fail(Code::kUnavailable, "the peer closed the connection");
    written_ += moved.bytes;
    unsent_.erase(0, moved.bytes);
    if (unsent_.empty()) unsent_ = std::string();  // idle connections hold no buffer
  }
}

}  // namespace quorate::net

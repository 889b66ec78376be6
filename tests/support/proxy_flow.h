#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "tests/support/fd.h"

namespace quorate::support {

// One direction of a connection through FaultProxy: takes bytes from a source and passes them on to
// a sink, or loses them. No call blocks.
class ProxyFlow {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // What happens to bytes that come now.
  struct Manner {
    std::chrono::milliseconds delay{0};
    bool lose = false;
  };

  // Takes what the source has. Once bytes were lost, so are all that follow. False: the source is
  // broken.
  bool take(const Fd& source, Manner manner);
  // Passes on what is due, then the end of the stream. False: the sink is broken.
  bool pass_on(const Fd& sink);

  // Passes everything on, and the end of the stream; loses what the source sends from now on.
  void half_close(const Fd& sink);
  // Forgets delays.
  void hurry();

  [[nodiscard]] bool wants_source() const { return !source_ended_ && queued_ < kMostQueued; }
  [[nodiscard]] bool wants_sink() const;
  // When there will be something to pass on; nothing if it waits for the source alone.
  [[nodiscard]] std::optional<Time> due() const;
  [[nodiscard]] bool source_ended() const { return source_ended_; }
  [[nodiscard]] bool finished() const { return source_ended_ && end_passed_on_; }

  [[nodiscard]] std::uint64_t passed_bytes() const { return passed_; }
  [[nodiscard]] std::uint64_t lost_bytes() const { return lost_; }

 private:
  static constexpr std::size_t kMostQueued = std::size_t{1} << 18;

  struct Chunk {
    Time due;
    std::string bytes;
  };

  std::deque<Chunk> queue_;
  std::size_t queued_ = 0;
  bool losing_ = false;
  bool source_ended_ = false;
  bool end_passed_on_ = false;
  std::uint64_t passed_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace quorate::support

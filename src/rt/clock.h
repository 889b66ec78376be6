#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "rt/task.h"

namespace quorate::rt {

// The only source of time. Two implementations: the machine's (Loop) and virtual time
// (VirtualLoop).
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Monotonic now() const = 0;
  virtual WallTime wall() const = 0;
  // Ok at or after `when`; kCancelled if the fiber is told to stop first.
  virtual Task<Result<void>> sleep_until(Monotonic when) = 0;
};

// When a wait ends at the latest. Every wait takes one.
struct Deadline {
  Monotonic at;

  // A delay too long to be counted means never.
  static Deadline after(const Clock& clock, Duration delay);
  static Deadline never() { return {Monotonic::max()}; }
  bool passed(const Clock& clock) const { return clock.now() >= at; }
  // The sooner of the two: an inner step may have less time than the whole, never more.
  Deadline sooner(Deadline other) const { return at < other.at ? *this : other; }
};

// The only source of chance.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // `base` scaled by a factor in [1 - share, 1 + share].
  Duration jitter(Duration base, double share);
};

// What every fiber needs from outside, handed down by value. The pointees outlive all fibers.
struct Runtime {
  Clock* clock;
  Random* random;
  Executor executor;

  Deadline in(Duration delay) const { return Deadline::after(*clock, delay); }
};

// Lets every other fiber that is ready run first. For long loops.
Task<Result<void>> yield(Runtime runtime);

// Ok, or kCancelled if the calling fiber has been told to stop. The waits of this library ask by
// themselves; code that awaits Asio directly asks before each operation, because Asio interrupts
// only the one that is under way.
Task<Result<void>> check_cancelled();

// False while the frames of this actor, or of the whole loop, are being destroyed: the caller, an
// interface to the outside, must then do nothing, because a real crash runs no destructors. In
// virtual time the run fails for the attempt.
[[nodiscard]] bool seam_open(const Runtime& runtime, std::string_view call);

}  // namespace quorate::rt

#include "rt/clock.h"

#include <cmath>

#include "base/check.h"

namespace quorate::rt {

Deadline Deadline::after(const Clock& clock, Duration delay) {
  Monotonic now = clock.now();
  if (delay > Monotonic::max() - now) return never();
  return {now + delay};
}

std::uint64_t Random::below(std::uint64_t bound) {
  CHECK(bound > 0);
  // The lowest `excess` values would make small results likelier; draw again instead.
  const std::uint64_t excess = (0 - bound) % bound;
  std::uint64_t value = next();
  while (value < excess) value = next();
  return value % bound;
}

Duration Random::jitter(Duration base, double share) {
  CHECK(share >= 0 && share <= 1, "share is {}", share);
  const double unit = static_cast<double>(next() >> 11) * 0x1.0p-53;  // in [0, 1)
  const double factor = 1 - share + 2 * share * unit;
  const double scaled = static_cast<double>(base.count()) * factor;
  if (scaled >= static_cast<double>(Duration::max().count())) return Duration::max();
  return Duration(static_cast<Duration::rep>(scaled));
}

Task<Result<void>> yield(Runtime runtime) { return runtime.clock->sleep_until(Monotonic::min()); }

}  // namespace quorate::rt

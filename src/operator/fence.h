#pragma once

#include <cstdint>

#include "rt/clock.h"

namespace quorate::op {

// Whether we may act, and until when: the lease that makes us the leader. Every effect asks first,
// and every call ends before the lease does, so that nothing of ours is under way when another
// leader begins.
class Fence {
 public:
  virtual ~Fence() = default;
  [[nodiscard]] virtual std::int64_t epoch() const = 0;
  [[nodiscard]] virtual Monotonic valid_until() const = 0;
};

}  // namespace quorate::op

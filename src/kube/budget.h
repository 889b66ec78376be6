#pragma once

#include "rt/clock.h"

namespace quorate::kube {

// How many requests a client may send: `burst` at once, then `per_second`.
struct RateLimit {
  double per_second = 0;  // 0: no limit
  int burst = 1;
};

// A token bucket. Waiters are served in the order in which they came.
class Budget {
 public:
  Budget(rt::Runtime runtime, RateLimit limit);

  // Ends when the caller may send. kThrottled, at once, if that would be after the deadline: the
  // token stays for others. kCancelled.
  Task<Result<void>> take(rt::Deadline deadline);

 private:
  rt::Runtime runtime_;
  RateLimit limit_;
  Monotonic full_at_{};  // when the bucket is full again
};

}  // namespace quorate::kube

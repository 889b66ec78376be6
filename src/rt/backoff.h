#pragma once

#include "rt/clock.h"

namespace quorate::rt {

// How long to wait before the next attempt: twice as long after each failure, up to a ceiling, and
// scattered so that many who failed together do not return together.
struct BackoffPolicy {
  Duration first = std::chrono::milliseconds(200);
  Duration ceiling = std::chrono::seconds(60);
  double scatter = 0.2;  // share of the delay, both ways; the ceiling holds nevertheless

  // After `failures` in a row (1 = the first).
  Duration delay(int failures, Random& random) const;
};

// The policy, and how far it has got.
class Backoff {
 public:
  explicit Backoff(BackoffPolicy policy = {}) : policy_(policy) {}

  // Counts one more failure and says how long to wait.
  Duration next(Random& random) { return policy_.delay(++failures_, random); }
  // It worked.
  void reset() { failures_ = 0; }
  int failures() const { return failures_; }

 private:
  BackoffPolicy policy_;
  int failures_ = 0;
};

}  // namespace quorate::rt

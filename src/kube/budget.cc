#include "kube/budget.h"

#include "base/check.h"

namespace quorate::kube {

Budget::Budget(rt::Runtime runtime, RateLimit limit) : runtime_(runtime), limit_(limit) {
  CHECK(limit.per_second >= 0 && limit.burst >= 1, "rate {}/s, burst {}", limit.per_second,
        limit.burst);
}

// The bucket is one number: the time at which it is full again. Taking a token moves that time by
// the price of one; who takes may go as soon as the bucket owes at most `burst` tokens.
Task<Result<void>> Budget::take(rt::Deadline deadline) {
  if (limit_.per_second == 0) co_return Result<void>();
  const Duration price(static_cast<Duration::rep>(1e9 / limit_.per_second));
  const Monotonic now = runtime_.clock->now();
  const Monotonic full_at = std::max(full_at_, now) + price;
  const Monotonic may_go = full_at - price * limit_.burst;
  if (may_go > deadline.at)
    co_return fail(Code::kThrottled, "the request budget is spent until after the deadline");
  full_at_ = full_at;
  if (may_go > now) co_return co_await runtime_.clock->sleep_until(may_go);
  co_return Result<void>();
}

}  // namespace quorate::kube

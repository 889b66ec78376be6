#include "rt/backoff.h"

#include <algorithm>

#include "base/check.h"

namespace quorate::rt {

Duration BackoffPolicy::delay(int failures, Random& random) const {
  CHECK(failures > 0 && first > Duration(0) && ceiling >= first);
  Duration doubled = first;
  for (int i = 1; i < failures && doubled < ceiling; ++i)
    doubled = doubled > ceiling / 2 ? ceiling : doubled * 2;
  return std::min(ceiling, random.jitter(doubled, scatter));
}

}  // namespace quorate::rt

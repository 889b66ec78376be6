#pragma once

#include <chrono>

#include "base/result.h"
#include "base/time.h"

namespace quorate::kube {

struct LeaseTimings {
  Duration lease = std::chrono::seconds(15);  // others wait this long since the last sign of life
  Duration renew_deadline = std::chrono::seconds(10);  // we stop acting this long after ours
  Duration retry = std::chrono::seconds(2);

  // kInvalid unless 10 min >= lease > renew_deadline > 1.2 * retry > 0, lease in whole seconds.
  [[nodiscard]] Result<void> check() const;
};

}  // namespace quorate::kube

#pragma once

#include <functional>
#include <map>
#include <string>

#include "apiserver/server.h"
#include "tests/sim/faults/plan.h"

namespace quorate::sim {

// What quotas and policies of the cluster refuse for a while, whoever asks.
class Refusals {
 public:
  // Of kForbidCreates or kForbidWrites; what is returned ends it.
  std::function<void()> begin(const Fault& fault);
  // That such a request is answered with; 0 if it is let through.
  [[nodiscard]] int status_for(const apiserver::Request& request) const;

 private:
  std::map<std::size_t, int> quotas_;    // by their numbers, how many faults name them
  std::map<std::size_t, int> policies_;  // likewise
};

}  // namespace quorate::sim

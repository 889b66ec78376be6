#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/time.h"

namespace quorate::op {

// How long something took, time after time: how often up to each bound, as metrics show it.
struct Histogram {
  static constexpr std::array kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                         0.25,  0.5,    1.0,   2.5,  5.0,   10.0};  // seconds
  std::array<std::uint64_t, kBounds.size()> counts{};  // of each bound alone, not of those below
  std::uint64_t count = 0;                             // of all, beyond the last bound, too
  double seconds = 0;                                  // of all

  void add(Duration took) {
    const double each = std::chrono::duration<double>(took).count();
    const auto bound = std::ranges::lower_bound(kBounds, each);
    if (bound != kBounds.end()) ++counts[static_cast<std::size_t>(bound - kBounds.begin())];
    ++count;
    seconds += each;
  }
};

}  // namespace quorate::op

#pragma once

#include <cstddef>
#include <string_view>

namespace quorate {

// In a time that does not tell how much of it is right: for what somebody brings as a secret.
[[nodiscard]] inline bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= unsigned{static_cast<unsigned char>(a[i])} ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

}  // namespace quorate

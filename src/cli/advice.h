#pragma once

#include <span>
#include <string_view>

namespace quorate::cli {

struct Advice {
  std::string_view reason;
  std::string_view text;
};
[[nodiscard]] std::span<const Advice> all_advice();

// What a person can do about a verdict with this reason; empty where waiting is all there is to do.
// `{c}` stands for the cluster's name, `{n}` for its namespace.
[[nodiscard]] std::string_view advice_for(std::string_view reason);

}  // namespace quorate::cli

#pragma once

#include <chrono>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>

namespace quorate::support {

// One look at a condition: whether it holds, and what was seen, for the message if it never does.
struct Look {
  Look(bool it_holds, std::string what = "") : holds(it_holds), seen(std::move(what)) {}

  bool holds;
  std::string seen;
};

// Looks again and again until the condition holds. Throws FixtureError with `what`, the caller's
// line and what was seen last when it does not hold in time; what `look` throws passes through.
//
//   eventually(10s, "three voters", [&] { return Look(voters() == 3, fmt::format("{}", voters()));
//   });
//
// This is for what only shows by asking (another process, mostly), and the only place in the tests
// that naps.
void eventually(std::chrono::milliseconds within, std::string_view what,
                const std::function<Look()>& look,
                std::source_location where = std::source_location::current());

}  // namespace quorate::support

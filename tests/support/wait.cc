#include "tests/support/wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "tests/support/fixture_error.h"

namespace quorate::support {

using std::chrono::milliseconds;

void eventually(milliseconds within, std::string_view what, const std::function<Look()>& look,
                std::source_location where) {
  const auto deadline = std::chrono::steady_clock::now() + within;
  milliseconds nap(5);
  while (true) {
    const bool last = std::chrono::steady_clock::now() >= deadline;
    const Look seen = look();
    if (seen.holds) return;
    if (last)
      throw FixtureError(fmt::format("{}:{}: {}: not within {} ms; last seen: {}",
                                     where.file_name(), where.line(), what, within.count(),
                                     seen.seen.empty() ? "(nothing)" : seen.seen));
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, milliseconds(100));
  }
}

}  // namespace quorate::support

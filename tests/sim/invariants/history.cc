#include "tests/sim/invariants/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace quorate::sim {

std::optional<std::string> find_revision_going_back(const History& history) {
  // Of each cluster, the highest revision that was shown up to an answer, in the order of answers:
  // what was answered before a call bounds what it may see.
  std::map<std::pair<std::string, int>, std::vector<std::pair<Monotonic, std::int64_t>>> highest;
  for (const auto which : history.answered) {
    const auto& operation = history.operations[which];
    if (operation.outcome != Operation::Outcome::kOk) continue;
    auto& seen = highest[{operation.cluster, operation.life}];
    auto before =
        std::lower_bound(seen.begin(), seen.end(), operation.called,
                         [](const auto& entry, Monotonic when) { return entry.first < when; });
    if (before != seen.begin() && std::prev(before)->second > operation.revision)
      return fmt::format("{}: revision {} after {}", operation.cluster, operation.revision,
                         std::prev(before)->second);
    const auto top =
        seen.empty() ? operation.revision : std::max(seen.back().second, operation.revision);
    seen.emplace_back(operation.returned, top);
  }
  return std::nullopt;
}

}  // namespace quorate::sim

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/plans/runner.h"

namespace quorate::sim {

// A run of the scenario with faults, and edits where it has them, drawn by the seed.
// Things go wrong for the given time, or for the scenario's.
[[nodiscard]] Trial draw_trial(const Scenario& scenario, std::uint64_t seed,
                               std::optional<Duration> length = {});
[[nodiscard]] Plan draw_plan(const Scenario& scenario, std::uint64_t seed, Duration length);

// Every side effect of a run without faults, and every moment of it: a crash
// before it, after it was carried out and before the answer, and after the
// answer; its request lost, its answer lost.
[[nodiscard]] std::vector<Plan> crash_plans(const Outcome& reference);
// Two crashes: the second in what the first led to. Every `stride`-th pair.
[[nodiscard]] std::vector<Plan> crash_pairs(const Outcome& reference, std::size_t stride);
// Stale views: from each side effect on, the API server that everybody watches lags; the leader
// goes on, or dies and another one begins; or all streams are half-open; or the leader stands still
// and goes on as if nothing had been.
[[nodiscard]] std::vector<Plan> stale_plans(const Outcome& reference);
// Every n-th of them, for runs that have little time: n should divide none of the numbers of plans
// that an effect has, so that all moments have their turn.
[[nodiscard]] std::vector<Plan> every(std::size_t n, std::vector<Plan> plans);
// The user deletes the cluster at every side effect, and at every one deletes it and declares it
// again.
[[nodiscard]] std::vector<Plan> delete_plans(const Outcome& reference);
// Unobserved: of two side effects on one object, nobody is told of the first until just before the
// second.
[[nodiscard]] std::vector<Plan> unobserved_plans(const Outcome& reference);

// The smallest trial that still leads to the same violation: faults and edits left out (delta
// debugging), then durations shortened. `runs` bounds the search.
[[nodiscard]] Trial minimise(Trial failing, const std::string& id, int runs = 100);

// What is needed to see it again.
[[nodiscard]] std::string render_replay(const Trial& trial);
[[nodiscard]] Result<Trial> parse_replay(std::string_view text);

// The smallest part of the list that still fails, up to leaving out any single part (ddmin).
template <class T>
std::vector<T> minimise_list(std::vector<T> list,
                             const std::function<bool(const std::vector<T>&)>& fails) {
  if (!list.empty() && fails({})) return {};
  for (std::size_t parts = 2; list.size() >= 2;) {
    parts = std::min(parts, list.size());
    bool smaller = false;
    for (std::size_t i = 0; i < parts && !smaller; ++i) {
      std::vector<T> rest;
      for (std::size_t k = 0; k < list.size(); ++k)
        if (k * parts / list.size() != i) rest.push_back(list[k]);
      if (!fails(rest)) continue;
      list = std::move(rest);
      parts = std::max<std::size_t>(parts - 1, 2);
      smaller = true;
    }
    if (smaller) continue;
    if (parts == list.size()) break;
    parts *= 2;
  }
  return list;
}

}  // namespace quorate::sim

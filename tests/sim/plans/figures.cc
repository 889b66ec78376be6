#include "tests/sim/plans/figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace quorate::sim {
namespace {

template <class Map, class Name>
std::string list(const Map& map, Name name) {
  std::string out;
  for (const auto& [key, count] : map)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name(key), count);
  return out.empty() ? "none" : out;
}

std::string as_is(const std::string& text) { return text; }

}  // namespace

void Figures::add(const Trial& trial, const Outcome& outcome) {
  ++runs_;
  seeds_.insert({trial.scenario->name, trial.seed});
  steps_ += outcome.steps;
  virtual_time_ += outcome.virtual_time;
  acknowledged_ += outcome.acknowledged;
  effects_ += outcome.effects.size();
  ++scenarios_[trial.scenario->name];
  for (const auto& [kind, count] : outcome.injected) {
    faults_[kind] += static_cast<std::uint64_t>(count);
    cells_.insert({trial.scenario->name, kind});
    for (const auto& [other, times] : outcome.injected)
      if (kind < other || (kind == other && count > 1)) pairs_.insert({kind, other});
  }
  for (const auto& [id, count] : outcome.evaluations) evaluations_[id] += count;
  for (const auto& [what, count] : outcome.edits) edits_[what] += count;
  for (const auto& [what, count] : outcome.refused) refused_[what] += count;
  if (trial.mutant) return;
  grid_.add(trial, outcome);
  slowest_ = std::max(slowest_, outcome.converged_after);
  violations_ += outcome.violations.size();
  time_outs_ += outcome.violates("L1") || outcome.violates("L2") || outcome.violates("L8") ? 1 : 0;
}

void Figures::add_plans(Plans kind, std::size_t enumerated, std::size_t executed) {
  plans_[kind].enumerated += enumerated;
  plans_[kind].executed += executed;
}
void Figures::add_determinism(bool equal) {
  ++determinism_;
  mismatches_ += equal ? 0 : 1;
}
void Figures::add_mutant(const std::string& name, Killed killed) {
  mutants_[name] = std::move(killed);
}

bool Figures::complete() const {
  for (const auto& [kind, done] : plans_)
    if (done.enumerated != done.executed) return false;
  return std::all_of(mutants_.begin(), mutants_.end(),
                     [](const auto& entry) { return entry.second.is_told(); });
}

// Of the faults that the scenarios which ran can draw, those that were injected.
std::string Figures::cells() const {
  std::size_t all = 0;
  std::size_t reached = 0;
  for (const auto& scenario : scenarios()) {
    if (!scenarios_.contains(scenario.name)) continue;
    for (const auto kind : scenario.faults) {
      ++all;
      reached += cells_.contains({scenario.name, kind}) ? 1 : 0;
    }
  }
  return fmt::format("{} of {}", reached, all);
}

std::string Figures::properties() const {
  auto touched = [&](const std::string& property) {
    for (const char* how : {" set", " changed", " unset"})
      if (edits_.contains(property + how) || refused_.contains(property + how)) return true;
    return false;
  };
  const auto sum = [](const auto& map) {
    std::uint64_t total = 0;
    for (const auto& [what, count] : map) total += count;
    return total;
  };
  const auto& all = spec_properties();
  return fmt::format("{} accepted, {} refused; {} of {} properties touched", sum(edits_),
                     sum(refused_), std::count_if(all.begin(), all.end(), touched), all.size());
}

std::string Figures::mutants() const {
  std::string out;
  std::vector<int> runs;
  for (const auto& [name, killed] : mutants_) {
    if (!killed.by.empty()) runs.push_back(killed.runs);
    out += fmt::format("  {:<20} {:<24} run {:>2}, {:>8} steps, {} faults{}\n", name,
                       killed.by.empty() ? "LIVES" : "killed by " + killed.by, killed.runs,
                       killed.steps, killed.faults,
                       killed.faults > Killed::kFewFaults ? ": TOO MANY" : "");
  }
  std::sort(runs.begin(), runs.end());
  return fmt::format("{} of {}, in {} runs (median)\n{}", runs.size(), mutants_.size(),
                     runs.empty() ? 0 : runs[runs.size() / 2], out);
}

std::string Figures::text(std::chrono::duration<double> wall) const {
  std::string out;
  auto line = [&](std::string_view what, std::string value) {
    out += fmt::format("{:<28}{}\n", what, value);
  };
  line("runs, distinct seeds", fmt::format("{}, {}", runs_, seeds_.size()));
  line("by scenario", list(scenarios_, as_is));
  line("steps", fmt::format("{} ({:.0f} a second)", steps_,
                            static_cast<double>(steps_) / std::max(wall.count(), 1e-9)));
  line("virtual hours",
       fmt::format("{:.1f}",
                   std::chrono::duration<double, std::ratio<3600>>(virtual_time_).count()));
  line("acknowledged writes", fmt::format("{}", acknowledged_));
  line("side effects of operators", fmt::format("{}", effects_));
  line("faults", list(faults_, [](FaultKind kind) { return name(kind); }));
  line("pairs of faults", fmt::format("{}", pairs_.size()));
  line("cells, fault x scenario", cells());
  line("grid of faults", grid_.text());
  if (!edits_.empty() || !refused_.empty()) line("edits", properties());
  constexpr std::pair<Plans, std::string_view> kPlans[] = {{Plans::kCrash, "crash plans"},
                                                           {Plans::kPairs, "pairs of crashes"},
                                                           {Plans::kStale, "stale plans"},
                                                           {Plans::kUnobserved, "unobserved plans"},
                                                           {Plans::kDelete, "deletions"}};
  for (const auto& [kind, title] : kPlans)
    if (auto found = plans_.find(kind); found != plans_.end())
      line(title,
           fmt::format("{} of {} executed", found->second.executed, found->second.enumerated));
  line("evaluations", list(evaluations_, as_is));
  line("slowest convergence",
       fmt::format("{:.1f} s after calm", std::chrono::duration<double>(slowest_).count()));
  line("violations, time-outs", fmt::format("{}, {}", violations_, time_outs_));
  line("run twice, mismatches", fmt::format("{}, {}", determinism_, mismatches_));
  if (!mutants_.empty()) line("mutants killed", mutants());
  line("wall time", fmt::format("{:.1f} s", wall.count()));
  return out;
}

}  // namespace quorate::sim

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
  for (const auto& [kind, count] : outcome.injected)
    faults_[kind] += static_cast<std::uint64_t>(count);
  for (const auto& [id, count] : outcome.evaluations) evaluations_[id] += count;
  if (trial.mutant) return;
  violations_ += outcome.violations.size();
  time_outs_ += outcome.violates("L1") ? 1 : 0;
}

void Figures::add_crash_plans(std::size_t enumerated, std::size_t executed) {
  crash_enumerated_ += enumerated;
  crash_executed_ += executed;
}
void Figures::add_view_plans(std::size_t enumerated, std::size_t executed) {
  view_enumerated_ += enumerated;
  view_executed_ += executed;
}
void Figures::add_determinism(bool equal) {
  ++determinism_;
  mismatches_ += equal ? 0 : 1;
}
void Figures::add_mutant(const std::string& name, int runs) { mutants_[name] = runs; }

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
  line("crash plans", fmt::format("{} of {} executed", crash_executed_, crash_enumerated_));
  line("stale and unobserved plans",
       fmt::format("{} of {} executed", view_executed_, view_enumerated_));
  line("evaluations", list(evaluations_, as_is));
  line("violations, time-outs", fmt::format("{}, {}", violations_, time_outs_));
  line("run twice, mismatches", fmt::format("{}, {}", determinism_, mismatches_));
  if (!mutants_.empty()) {
    const auto killed = std::count_if(mutants_.begin(), mutants_.end(),
                                      [](const auto& entry) { return entry.second > 0; });
    line("mutants killed",
         fmt::format("{} of {}: {}", killed, mutants_.size(), list(mutants_, as_is)));
  }
  line("wall time", fmt::format("{:.1f} s", wall.count()));
  return out;
}

}  // namespace quorate::sim

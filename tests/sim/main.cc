// sim: the production operator in a simulated world, seed by seed. docs and
// READMEs: tests/sim.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/sim/plans/campaign.h"
#include "tests/sim/plans/figures.h"
#include "tests/sim/plans/runner.h"

namespace quorate::sim {
namespace {

struct Options {
  std::string scenario = "form";
  std::uint64_t seeds = 100;
  std::uint64_t first_seed = 1;
  std::string replay;
  std::string keep = "sim-replay.json";
  bool list = false;
  bool trace = false;
  bool crash_points = false;
  bool views = false;
  bool mutants = false;
  std::uint64_t twice_every = 20;  // every n-th seed is run twice
};

class Session {
 public:
  explicit Session(Options options) : options_(std::move(options)) {}

  int run() {
    if (options_.list) return list();
    if (!options_.replay.empty()) return replay();
    const auto* scenario = find_scenario(options_.scenario);
    if (!scenario) {
      std::cerr << "no scenario is called " << options_.scenario << "; see --list\n";
      return 2;
    }
    if (options_.crash_points || options_.views) enumerate(*scenario);
    if (options_.mutants) hunt();
    if (!options_.crash_points && !options_.views && !options_.mutants) seeds(*scenario);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun_;
    fmt::print("{}", figures_.text(wall));
    return figures_.violations() == 0 && alive_ == 0 && unequal_ == 0 ? 0 : 1;
  }

 private:
  int list() const {
    for (const auto& scenario : scenarios())
      fmt::print("{:<12} {}\n", scenario.name, scenario.says);
    fmt::print("\nmutants\n");
    for (const auto& mutant : museum()) fmt::print("{:<18} {}\n", mutant.name, mutant.says);
    return 0;
  }

  int replay() {
    std::ifstream file(options_.replay);
    std::stringstream text;
    text << file.rdbuf();
    auto trial = parse_replay(text.str());
    if (!trial) {
      std::cerr << options_.replay << ": " << trial.error().text() << "\n";
      return 2;
    }
    const auto outcome = sim::run(*trial, [](std::string_view line) { fmt::print("{}", line); });
    show(*trial, outcome);
    return outcome.violations.empty() ? 0 : 1;
  }

  void show(const Trial& trial, const Outcome& outcome) const {
    fmt::print("scenario {}, seed {}: {} steps, trace {:016x}\n", trial.scenario->name, trial.seed,
               outcome.steps, outcome.trace_hash);
    for (const auto& fault : trial.plan.faults) fmt::print("  fault      {}\n", describe(fault));
    for (const auto& violation : outcome.violations)
      fmt::print("  violation  {} at {} ms, step {}: {}\n", violation.id,
                 std::chrono::duration_cast<std::chrono::milliseconds>(violation.at).count(),
                 violation.step, violation.text);
  }

  Outcome try_out(const Trial& trial) {
    auto outcome = sim::run(trial);
    figures_.add(trial, outcome);
    if (outcome.violations.empty()) return outcome;
    show(trial, outcome);
    if (kept_ == 0) {
      auto smallest = trial;
      smallest.plan = minimise(trial, outcome.violations.front().id);
      std::ofstream(options_.keep) << render_replay(smallest);
      fmt::print("  the smallest plan, in {}:\n", options_.keep);
      show(smallest, sim::run(smallest));
    }
    ++kept_;
    return outcome;
  }

  void seeds(const Scenario& scenario) {
    for (std::uint64_t i = 0; i < options_.seeds; ++i) {
      Trial trial;
      trial.scenario = &scenario;
      trial.seed = options_.first_seed + i;
      trial.plan = draw_plan(scenario, trial.seed);
      if (options_.trace) {
        const auto outcome = sim::run(trial, [](std::string_view line) { fmt::print("{}", line); });
        figures_.add(trial, outcome);
        show(trial, outcome);
        continue;
      }
      const auto outcome = try_out(trial);
      if (i % options_.twice_every != 0) continue;
      const bool equal = sim::run(trial).trace_hash == outcome.trace_hash;
      figures_.add_determinism(equal);
      unequal_ += equal ? 0 : 1;
    }
  }

  void enumerate(const Scenario& scenario) {
    Trial quiet;
    quiet.scenario = &scenario;
    quiet.seed = options_.first_seed;
    const auto reference = try_out(quiet);
    auto execute = [&](const std::vector<Plan>& plans) {
      for (const auto& plan : plans) {
        auto trial = quiet;
        trial.plan = plan;
        trial.reference = &reference.counts;
        try_out(trial);
      }
      return plans.size();
    };
    if (options_.crash_points) {
      const auto plans = crash_plans(reference);
      figures_.add_crash_plans(plans.size(), execute(plans));
    }
    if (options_.views) {
      const auto plans = view_plans(reference);
      figures_.add_view_plans(plans.size(), execute(plans));
    }
  }

  void hunt() {
    for (const auto& mutant : museum()) {
      const int runs = kill(mutant);
      figures_.add_mutant(mutant.name, runs);
      alive_ += runs == 0 ? 1 : 0;
    }
  }

  // How many runs it took; 0 if it lived.
  int kill(const Mutant& mutant) {
    const auto& scenario = *find_scenario(mutant.scenario);
    Trial quiet;
    quiet.scenario = &scenario;
    const auto reference = sim::run(quiet);
    int runs = 0;
    auto dies = [&](const Plan& plan, std::uint64_t seed) {
      ++runs;
      Trial trial;
      trial.scenario = &scenario;
      trial.seed = seed;
      trial.plan = plan;
      trial.mutant = &mutant;
      trial.reference = &reference.counts;
      const auto outcome = sim::run(trial);
      figures_.add(trial, outcome);
      for (const auto& id : mutant.killed_by) {
        if (!outcome.violates(id)) continue;
        const auto smallest = minimise(trial, id, 20);
        fmt::print("mutant {:<18} killed by {} in run {}, {} faults\n", mutant.name, id, runs,
                   smallest.faults.size());
        return true;
      }
      return false;
    };
    for (const auto& plan : mutant.plans)
      if (dies(plan, 1)) return runs;
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
      if (dies(draw_plan(scenario, seed), seed)) return runs;
    fmt::print("mutant {} lives\n", mutant.name);
    return 0;
  }

  Options options_;
  Figures figures_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  int kept_ = 0;
  int alive_ = 0;
  int unequal_ = 0;
};

}  // namespace
}  // namespace quorate::sim

int main(int count, char** arguments) {
  quorate::sim::Options options;
  CLI::App app("Runs the operator in a simulated world.");
  app.add_option("--scenario", options.scenario, "the story; see --list")->capture_default_str();
  app.add_option("--seeds", options.seeds, "how many")->capture_default_str();
  app.add_option("--seed", options.first_seed, "the first")->capture_default_str();
  app.add_option("--replay", options.replay, "a file that a violation left");
  app.add_option("--keep", options.keep, "where to leave one")->capture_default_str();
  app.add_flag("--crash-points", options.crash_points, "every side effect, crashed and lost");
  app.add_flag("--views", options.views, "every side effect, with a stale view");
  app.add_flag("--mutants", options.mutants, "kill the museum");
  app.add_flag("--list", options.list, "scenarios and mutants");
  app.add_flag("--trace", options.trace, "tell what happens");
  CLI11_PARSE(app, count, arguments);
  return quorate::sim::Session(std::move(options)).run();
}

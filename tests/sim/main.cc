// sim: the production operator in a simulated world, seed by seed. docs/simulator.md says how to
// run it and how to read what it says.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "tests/sim/museum/hunt.h"
#include "tests/sim/plans/campaign.h"
#include "tests/sim/plans/figures.h"
#include "tests/sim/plans/parallel.h"

namespace quorate::sim {
namespace {

struct Options {
  std::vector<std::string> scenarios{"form"};
  std::uint64_t seeds = 100;
  std::uint64_t first_seed = 1;
  std::string replay;
  std::string keep = "sim-replay.json";
  std::string mutant;
  bool list = false;
  bool trace = false;
  bool quiet = false;
  bool digests = false;
  bool crash_points = false;
  bool views = false;
  bool deletes = false;
  std::size_t pairs = 0;
  std::size_t every = 1;
  bool museum = false;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  std::uint64_t twice_every = 50;  // every n-th seed is run twice
  std::int64_t length = 0;         // seconds; 0: the scenario's
};

void print(std::string_view line) { fmt::print("{}", line); }

class Session {
 public:
  explicit Session(Options options) : options_(std::move(options)) {}

  int run() {
    if (options_.list) return list();
    if (!options_.replay.empty()) return replay();
    const bool enumerates =
        options_.crash_points || options_.views || options_.deletes || options_.pairs > 0;
    for (const auto* scenario : chosen()) {
      if (enumerates) enumerate(*scenario);
      if (!enumerates && !options_.museum) seeds(*scenario);
    }
    if (options_.museum) hunt();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun_;
    fmt::print("{}", figures_.text(wall));
    const bool sound = figures_.violations() == 0 && figures_.mismatches() == 0;
    return sound && unproven_ == 0 && figures_.complete() ? 0 : 1;
  }

  // The first name among the options that means nothing; empty if all do.
  [[nodiscard]] std::string unknown_name() const {
    for (const auto& name : options_.scenarios)
      if (name != "all" && !find_scenario(name)) return name;
    if (!options_.mutant.empty() && !find_mutant(options_.mutant)) return options_.mutant;
    return {};
  }

 private:
  [[nodiscard]] std::vector<const Scenario*> chosen() const {
    std::vector<const Scenario*> out;
    for (const auto& scenario : scenarios())
      for (const auto& name : options_.scenarios)
        if (name == scenario.name || name == "all") out.push_back(&scenario);
    return out;
  }

  int list() const {
    fmt::print("scenarios\n");
    for (const auto& scenario : scenarios())
      fmt::print("  {:<18} {}\n", scenario.name, scenario.says);
    fmt::print("invariants\n");
    for (const auto& invariant : all_invariants())
      fmt::print("  {:<18} {}\n", invariant.id, invariant.says);
    fmt::print("mutants\n");
    for (const auto& mutant : museum()) fmt::print("  {:<18} {}\n", mutant.name, mutant.says);
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
    const auto outcome = sim::run(*trial, options_.quiet ? Tell() : Tell(print));
    show(*trial, outcome);
    return outcome.violations.empty() ? 0 : 1;
  }

  static void show(const Trial& trial, const Outcome& outcome) {
    fmt::print("scenario {}, seed {}: {} steps, {:.0f} s, digest {:016x}\n", trial.scenario->name,
               trial.seed, outcome.steps,
               std::chrono::duration<double>(outcome.virtual_time).count(), outcome.digest);
    for (const auto& fault : trial.plan.faults) fmt::print("  fault      {}\n", describe(fault));
    for (const auto& edit : trial.edits)
      fmt::print("  edit       at {} ms, {} {}\n", edit.at / std::chrono::milliseconds(1),
                 edit.property, edit.how);
    for (const auto& violation : outcome.violations)
      fmt::print("  violation  {} at {} ms, step {}: {}\n", violation.id,
                 violation.at / std::chrono::milliseconds(1), violation.step, violation.text);
  }

  // Counts it; if it violates something, says so, and keeps the smallest trial of the first.
  void take(const Trial& trial, const Outcome& outcome) {
    figures_.add(trial, outcome);
    if (options_.digests)
      fmt::print("{} {} {:016x}\n", trial.scenario->name, trial.seed, outcome.digest);
    if (outcome.violations.empty()) return;
    show(trial, outcome);
    if (kept_++ > 0) return;
    const auto smallest = minimise(trial, outcome.violations.front().id);
    std::ofstream(options_.keep) << render_replay(smallest);
    fmt::print("  the smallest trial, in {}:\n", options_.keep);
    show(smallest, sim::run(smallest));
  }

  // Scenarios in which something is expected at a certain time are never cut short, others not
  // before the last act.
  [[nodiscard]] std::optional<Duration> length_of(const Scenario& scenario) const {
    if (options_.length == 0 || !scenario.expects.empty()) return std::nullopt;
    Duration least = std::chrono::seconds(options_.length);
    for (const auto& act : scenario.acts)
      least = std::max<Duration>(least, act.at + std::chrono::seconds(20));
    return std::min<Duration>(scenario.length, least);
  }

  [[nodiscard]] Trial make_trial(const Scenario& scenario, std::uint64_t seed) const {
    auto trial = draw_trial(scenario, seed, length_of(scenario));
    if (options_.quiet) {
      trial.plan = {};
      trial.edits = {};
    }
    if (!options_.mutant.empty()) trial.mutant = find_mutant(options_.mutant);
    return trial;
  }

  void seeds(const Scenario& scenario) {
    if (options_.trace) {
      const auto trial = make_trial(scenario, options_.first_seed);
      const auto outcome = sim::run(trial, print);
      figures_.add(trial, outcome);
      show(trial, outcome);
      return;
    }
    constexpr std::uint64_t kBatch = 1000;
    for (std::uint64_t done = 0; done < options_.seeds; done += kBatch) {
      std::vector<Trial> trials;
      std::vector<Trial> again;
      std::map<std::uint64_t, std::uint64_t> digests;
      for (auto i = done; i < std::min(options_.seeds, done + kBatch); ++i) {
        trials.push_back(make_trial(scenario, options_.first_seed + i));
        if (i % options_.twice_every == 0) again.push_back(trials.back());
      }
      run_all(trials, options_.jobs, [&](const Trial& trial, const Outcome& outcome) {
        digests[trial.seed] = outcome.digest;
        take(trial, outcome);
      });
      run_all(again, options_.jobs, [&](const Trial& trial, const Outcome& outcome) {
        figures_.add_determinism(digests[trial.seed] == outcome.digest);
      });
    }
  }

  void enumerate(const Scenario& scenario) {
    Trial quiet;
    quiet.scenario = &scenario;
    quiet.seed = options_.first_seed;
    quiet.length = length_of(scenario);
    const auto reference = sim::run(quiet);
    take(quiet, reference);
    quiet.reference = std::make_shared<Counts>(reference.counts);
    auto execute = [&](Figures::Plans kind, std::vector<Plan> all) {
      const auto plans = every(options_.every, std::move(all));
      std::vector<Trial> trials(plans.size(), quiet);
      for (std::size_t i = 0; i < plans.size(); ++i) trials[i].plan = plans[i];
      std::size_t executed = 0;
      run_all(trials, options_.jobs, [&](const Trial& trial, const Outcome& outcome) {
        ++executed;
        take(trial, outcome);
      });
      figures_.add_plans(kind, plans.size(), executed);
    };
    if (options_.crash_points) execute(Figures::Plans::kCrash, crash_plans(reference));
    if (options_.deletes) execute(Figures::Plans::kDelete, delete_plans(reference));
    if (options_.pairs > 0) execute(Figures::Plans::kPairs, crash_pairs(reference, options_.pairs));
    if (!options_.views) return;
    execute(Figures::Plans::kStale, stale_plans(reference));
    execute(Figures::Plans::kUnobserved, unobserved_plans(reference));
  }

  void hunt() {
    std::vector<const Mutant*> prey;
    for (const auto& mutant : museum())
      if (options_.mutant.empty() || mutant.name == options_.mutant) prey.push_back(&mutant);
    hunt_all(prey, options_.jobs, [this](const Hunted& hunted) {
      for (const auto& [trial, outcome] : hunted.runs) figures_.add(trial, outcome);
      figures_.add_mutant(hunted.mutant->name, hunted.killed);
      fmt::print("{:<20} {}\n", hunted.mutant->name,
                 hunted.killed.by.empty() ? "LIVES" : "killed by " + hunted.killed.by);
      for (const auto& fault : hunted.smallest.plan.faults)
        fmt::print("{:<22}{}\n", "", describe(fault));
      if (hunted.survivor.violates(hunted.killed.by)) {
        fmt::print("{:<22}and so is the operator without the mutation\n", "");
        ++unproven_;
      }
      std::fflush(stdout);
    });
  }

  Options options_;
  Figures figures_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  int kept_ = 0;
  int unproven_ = 0;
};

}  // namespace
}  // namespace quorate::sim

int main(int count, char** arguments) {
  quorate::sim::Options options;
  CLI::App app("Runs the operator in a simulated world.");
  app.add_option("--scenario", options.scenarios, "the stories, or all; see --list")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "how many")->capture_default_str();
  app.add_option("--seed", options.first_seed, "the first")->capture_default_str();
  app.add_option("--length", options.length,
                 "seconds in which things go wrong; 0: as the story says");
  app.add_option("--jobs", options.jobs, "worlds side by side")->capture_default_str();
  app.add_option("--replay", options.replay, "a file that a violation left");
  app.add_option("--keep", options.keep, "where to leave one")->capture_default_str();
  app.add_option("--mutant", options.mutant, "run this one instead of the operator");
  app.add_flag("--crash-points", options.crash_points, "every side effect, crashed and lost");
  app.add_option("--pairs", options.pairs, "every n-th pair of crashes");
  app.add_flag("--views", options.views, "every side effect, with stale and withheld views");
  app.add_flag("--deletes", options.deletes, "the cluster is deleted at every side effect");
  app.add_option("--every", options.every, "every n-th of the plans at side effects")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_flag("--museum", options.museum, "kill every mutant");
  app.add_flag("--list", options.list, "scenarios, invariants and mutants");
  app.add_flag("--trace", options.trace, "tell the first seed's story");
  app.add_flag("--quiet", options.quiet, "no faults and no edits; with --replay: no story");
  app.add_flag("--digests", options.digests, "a line for each run");
  CLI11_PARSE(app, count, arguments);
  quorate::sim::Session session(options);
  if (const auto unknown = session.unknown_name(); !unknown.empty()) {
    std::cerr << "there is no " << unknown << "; see --list\n";
    return 2;
  }
  return session.run();
}

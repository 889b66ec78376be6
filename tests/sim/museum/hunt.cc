#include "tests/sim/museum/hunt.h"

#include "tests/sim/plans/campaign.h"
#include "tests/sim/plans/parallel.h"

namespace quorate::sim {
namespace {

constexpr int kMinimisingRuns = 40;
constexpr std::size_t kFewFaults = 5;  // a plan of so many is small enough to be read

std::string broken_by(const Mutant& mutant, const Outcome& outcome) {
  for (const auto& id : mutant.killed_by)
    if (outcome.violates(id)) return id;
  return {};
}

}  // namespace

Hunted hunt(const Mutant& mutant, int most_seeds) {
  const auto& scenario = *find_scenario(mutant.scenario);
  Trial quiet;
  quiet.scenario = &scenario;
  quiet.length = mutant.length;
  const auto reference = std::make_shared<Counts>(run(quiet).counts);
  Hunted out;
  out.mutant = &mutant;
  auto dies = [&](Trial trial) {
    ++out.killed.runs;
    trial.mutant = &mutant;
    trial.length = mutant.length;
    if (trial.edits.empty()) trial.reference = reference;
    auto outcome = run(trial);
    out.killed.steps += outcome.steps;
    out.killed.by = broken_by(mutant, outcome);
    if (!out.killed.by.empty()) out.smallest = trial;
    out.runs.emplace_back(std::move(trial), std::move(outcome));
    return !out.killed.by.empty();
  };
  bool dead = false;
  for (std::size_t i = 0; i < mutant.plans.size() && !dead; ++i) {
    auto trial = quiet;
    trial.plan = mutant.plans[i];
    dead = dies(std::move(trial));
  }
  for (int seed = 1; seed <= most_seeds && !dead; ++seed)
    dead = dies(draw_trial(scenario, static_cast<std::uint64_t>(seed), mutant.length));
  if (!dead) return out;
  if (out.smallest.plan.faults.size() + out.smallest.edits.size() > kFewFaults)
    out.smallest = minimise(out.smallest, out.killed.by, kMinimisingRuns);
  out.killed.faults = out.smallest.plan.faults.size() + out.smallest.edits.size();
  auto sound = out.smallest;
  sound.mutant = nullptr;
  out.survivor = run(sound);
  return out;
}

void hunt_all(const std::vector<const Mutant*>& mutants, unsigned jobs,
              const std::function<void(const Hunted&)>& each) {
  side_by_side<Hunted>(
      mutants.size(), jobs, [&](std::size_t i) { return hunt(*mutants[i]); },
      [&](std::size_t, const Hunted& hunted) { each(hunted); });
}

}  // namespace quorate::sim

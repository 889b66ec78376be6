#include "tests/sim/museum/hunt.h"

#include "tests/sim/plans/campaign.h"

namespace quorate::sim {
namespace {

constexpr int kMinimisingRuns = 40;

std::string broken_by(const Mutant& mutant, const Outcome& outcome) {
  for (const auto& id : mutant.killed_by)
    if (outcome.violates(id)) return id;
  return {};
}

}  // namespace

Hunted hunt(const Mutant& mutant, const std::function<void(const Trial&, const Outcome&)>& each,
            int most_seeds) {
  const auto& scenario = *find_scenario(mutant.scenario);
  Trial quiet;
  quiet.scenario = &scenario;
  quiet.length = mutant.length;
  const auto reference = std::make_shared<Counts>(run(quiet).counts);
  Hunted out;
  auto dies = [&](Trial trial) {
    ++out.killed.runs;
    trial.mutant = &mutant;
    trial.length = mutant.length;
    if (trial.edits.empty()) trial.reference = reference;
    const auto outcome = run(trial);
    each(trial, outcome);
    out.killed.steps += outcome.steps;
    out.killed.by = broken_by(mutant, outcome);
    if (!out.killed.by.empty()) out.smallest = std::move(trial);
    return !out.killed.by.empty();
  };
  bool dead = false;
  for (std::size_t i = 0; i < mutant.plans.size() && !dead; ++i) {
    auto trial = quiet;
    trial.plan = mutant.plans[i];
    dead = dies(std::move(trial));
  }
  for (int seed = 1; seed <= most_seeds && !dead; ++seed)
    dead = dies(draw_trial(scenario, static_cast<std::uint64_t>(seed)));
  if (!dead) return out;
  out.smallest = minimise(out.smallest, out.killed.by, kMinimisingRuns);
  out.killed.faults = out.smallest.plan.faults.size() + out.smallest.edits.size();
  auto sound = out.smallest;
  sound.mutant = nullptr;
  out.survivor = run(sound);
  return out;
}

}  // namespace quorate::sim

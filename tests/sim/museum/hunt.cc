#include "tests/sim/museum/hunt.h"

#include <algorithm>

#include "tests/sim/plans/campaign.h"
#include "tests/sim/plans/parallel.h"

namespace quorate::sim {
namespace {

constexpr int kMinimisingRuns = 30;
constexpr auto kMoment = std::chrono::seconds(10);

const Violation* find_kill(const Mutant& mutant, const Outcome& outcome) {
  for (const auto& id : mutant.killed_by)
    if (const auto* violation = outcome.find_violation(id)) return violation;
  return nullptr;
}

class Hunt {
 public:
  explicit Hunt(const Mutant& mutant) : mutant_(mutant) {
    blank_.scenario = find_scenario(mutant.scenario);
    blank_.length = mutant.length;
    const auto& ids = mutant.killed_by;
    if (std::find(ids.begin(), ids.end(), "L3") != ids.end())
      reference_ = std::make_shared<Counts>(run(blank_).counts);
    out_.mutant = &mutant;
  }

  Hunted finish(int most_seeds) {
    if (!search(most_seeds)) return std::move(out_);
    auto& smallest = out_.smallest;
    if (size(smallest) > Killed::kFewFaults)
      smallest = minimise(smallest, out_.killed.by, kMinimisingRuns);
    out_.killed.faults = size(smallest);
    out_.survivor = run(make_sound(smallest));
    return std::move(out_);
  }

 private:
  static std::size_t size(const Trial& trial) {
    return trial.plan.faults.size() + trial.edits.size();
  }

  // What the mutant is known to die of comes first.
  bool search(int most_seeds) {
    for (const auto& plan : mutant_.plans) {
      auto trial = blank_;
      trial.plan = plan;
      if (dies(std::move(trial))) return true;
    }
    for (int seed = 1; seed <= most_seeds; ++seed)
      if (dies(draw_trial(*blank_.scenario, static_cast<std::uint64_t>(seed), mutant_.length)))
        return true;
    return false;
  }

  bool dies(Trial trial) {
    ++out_.killed.runs;
    trial.mutant = &mutant_;
    trial.ends_with = mutant_.killed_by;
    if (trial.edits.empty()) trial.reference = reference_;
    auto outcome = run(trial);
    out_.killed.steps += outcome.steps;
    const auto* kill = find_kill(mutant_, outcome);
    if (kill) {
      out_.killed.by = kill->id;
      killed_at_ = kill->at;
      out_.smallest = trial;
    }
    const bool dead = kill != nullptr;
    out_.runs.emplace_back(std::move(trial), std::move(outcome));
    return dead;
  }

  // The operator itself under the same plan, for a moment longer than the mutant lived; to the end
  // if that is when it died.
  Trial make_sound(Trial trial) const {
    trial.mutant = nullptr;
    if (killed_at_ + kMoment < trial.length.value_or(trial.scenario->length))
      trial.ends_after = killed_at_ + kMoment;
    return trial;
  }

  const Mutant& mutant_;
  Trial blank_;
  std::shared_ptr<const Counts> reference_;
  Duration killed_at_{};
  Hunted out_;
};

}  // namespace

Hunted hunt(const Mutant& mutant, int most_seeds) { return Hunt(mutant).finish(most_seeds); }

void hunt_all(const std::vector<const Mutant*>& mutants, unsigned jobs,
              const std::function<void(const Hunted&)>& each) {
  side_by_side<Hunted>(
      mutants.size(), jobs, [&](std::size_t i) { return hunt(*mutants[i]); },
      [&](std::size_t, const Hunted& hunted) { each(hunted); });
}

}  // namespace quorate::sim

#include "tests/sim/plans/campaign.h"

#include <fmt/format.h>

#include "json/document.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

// A generator of its own, so that plans do not change when the world draws
// otherwise.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  std::uint64_t below(std::uint64_t bound) {
    state_ += 0x9e3779b97f4a7c15ULL;
    auto z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (z ^ (z >> 31)) % bound;
  }

 private:
  std::uint64_t state_;
};

Duration draw_time(Dice& dice, const Scenario& scenario) {
  // Half of all faults fall into the first seconds, in which clusters form.
  const Duration whole = dice.below(2) == 0 ? Duration(10s) : scenario.length * 8 / 10;
  return std::chrono::milliseconds(dice.below(static_cast<std::uint64_t>(whole / 1ms)));
}

Duration draw_duration(Dice& dice) {
  constexpr Duration kChoices[] = {200ms, 1s, 3s, 8s, 15s, 30s, 70s, 120s};
  return kChoices[dice.below(std::size(kChoices))];
}

Fault at_effect(FaultKind kind, std::uint64_t effect, Moment moment, Duration duration) {
  Fault fault;
  fault.kind = kind;
  fault.effect = effect;
  fault.moment = moment;
  fault.duration = duration;
  return fault;
}

}  // namespace

Plan draw_plan(const Scenario& scenario, std::uint64_t seed) {
  Dice dice(seed);
  Plan plan;
  const auto count = 1 + dice.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    Fault fault;
    fault.kind = scenario.faults[dice.below(scenario.faults.size())];
    fault.target = static_cast<int>(dice.below(5));
    fault.at = draw_time(dice, scenario);
    fault.duration = draw_duration(dice);
    fault.count = 1 + static_cast<int>(dice.below(4));
    if (fault.kind == FaultKind::kWallJump && dice.below(2) == 0) fault.duration *= -30;
    plan.faults.push_back(fault);
  }
  return plan;
}

std::vector<Plan> crash_plans(const Outcome& reference) {
  std::vector<Plan> out;
  for (std::uint64_t effect = 1; effect <= reference.effects.size(); ++effect) {
    for (auto moment : {Moment::kBefore, Moment::kAfterApply, Moment::kAfterReply})
      out.push_back({{at_effect(FaultKind::kCrash, effect, moment, 1s)}});
    out.push_back({{at_effect(FaultKind::kLoseRequest, effect, Moment::kBefore, 0s)}});
    out.push_back({{at_effect(FaultKind::kLoseReply, effect, Moment::kBefore, 0s)}});
  }
  return out;
}

std::vector<Plan> view_plans(const Outcome& reference) {
  std::vector<Plan> out;
  for (std::uint64_t effect = 1; effect <= reference.effects.size(); ++effect) {
    const auto frozen = at_effect(FaultKind::kFreezeWatches, effect, Moment::kBefore, 40s);
    out.push_back({{frozen}});
    out.push_back({{frozen, at_effect(FaultKind::kCrash, effect, Moment::kAfterApply, 1s)}});
    out.push_back({{at_effect(FaultKind::kPause, effect, Moment::kBefore, 45s)}});
    out.push_back({{at_effect(FaultKind::kHalfOpen, effect, Moment::kBefore, 0s)}});
  }
  return out;
}

Plan minimise(Trial failing, const std::string& id, int runs) {
  auto still_fails = [&](const Plan& plan) {
    --runs;
    auto trial = failing;
    trial.plan = plan;
    return run(trial).violates(id);
  };
  auto& plan = failing.plan;
  for (std::size_t i = 0; i < plan.faults.size() && runs > 0;) {
    auto less = plan;
    less.faults.erase(less.faults.begin() + static_cast<std::ptrdiff_t>(i));
    if (still_fails(less))
      plan = std::move(less);
    else
      ++i;
  }
  for (std::size_t i = 0; i < plan.faults.size() && runs > 0; ++i) {
    auto less = plan;
    less.faults[i].duration /= 2;
    less.faults[i].count = 1;
    if (less != plan && still_fails(less)) plan = std::move(less);
  }
  return plan;
}

std::string render_replay(const Trial& trial) {
  json::Object out{
      {"scenario", trial.scenario->name}, {"seed", trial.seed}, {"plan", encode(trial.plan)}};
  if (trial.mutant) out["mutant"] = trial.mutant->name;
  return json::render(std::move(out)) + "\n";
}

Result<Trial> parse_replay(std::string_view text) {
  TRY(auto document, json::parse(text));
  Trial trial;
  TRY(auto scenario, json::text_at(document, "/scenario"));
  trial.scenario = find_scenario(scenario);
  if (!trial.scenario)
    return fail(Code::kInvalid, fmt::format("no scenario is called {}", scenario));
  TRY(auto seed, json::integer_at(document, "/seed"));
  trial.seed = static_cast<std::uint64_t>(seed);
  const auto* plan = json::find(document, "/plan");
  if (!plan) return fail(Code::kInvalid, "there is no plan");
  TRY(trial.plan, decode_plan(*plan));
  if (const auto mutant = json::text_or(document, "/mutant", ""); !mutant.empty()) {
    trial.mutant = find_mutant(mutant);
    if (!trial.mutant) return fail(Code::kInvalid, fmt::format("no mutant is called {}", mutant));
  }
  return trial;
}

}  // namespace quorate::sim

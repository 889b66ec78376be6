#include "tests/sim/plans/campaign.h"

#include <fmt/format.h>

#include "json/document.h"
#include "tests/sim/plans/dice.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

Duration draw_time(Dice& dice, Duration length) {
  // Half of all faults fall into the first seconds, in which clusters form.
  const Duration whole = dice.below(2) == 0 ? Duration(10s) : length * 8 / 10;
  return std::chrono::milliseconds(dice.below(static_cast<std::uint64_t>(whole / 1ms)));
}

Duration draw_duration(Dice& dice) {
  constexpr Duration kChoices[] = {200ms, 1s, 3s, 8s, 15s, 30s, 70s, 120s};
  return dice.pick(kChoices);
}

Fault at_effect(FaultKind kind, std::uint64_t effect, Moment moment, Duration duration) {
  Fault fault;
  fault.kind = kind;
  fault.effect = effect;
  fault.moment = moment;
  fault.duration = duration;
  return fault;
}

Fault for_everybody(Fault fault) {
  fault.target = kEverybody;
  return fault;
}

}  // namespace

Plan draw_plan(const Scenario& scenario, std::uint64_t seed, Duration length) {
  Dice dice(seed);
  Plan plan;
  const auto count = 1 + dice.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    Fault fault;
    fault.kind = dice.pick(scenario.faults);
    fault.target = static_cast<int>(dice.below(8));
    fault.at = draw_time(dice, length);
    fault.duration = draw_duration(dice);
    fault.count = 1 + static_cast<int>(dice.below(4));
    if (fault.kind == FaultKind::kWallJump && dice.below(2) == 0) fault.duration *= -30;
    plan.faults.push_back(fault);
  }
  return plan;
}

Trial draw_trial(const Scenario& scenario, std::uint64_t seed, std::optional<Duration> length) {
  Trial trial;
  trial.scenario = &scenario;
  trial.seed = seed;
  trial.plan = draw_plan(scenario, seed, length.value_or(scenario.length));
  trial.length = length;
  trial.edits = draw_edits(scenario, seed);
  return trial;
}

// ---- Enumerated plans ----

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

std::vector<Plan> crash_pairs(const Outcome& reference, std::size_t stride) {
  std::vector<Plan> out;
  std::size_t number = 0;
  for (std::uint64_t first = 1; first <= reference.effects.size(); ++first)
    for (std::uint64_t second = first + 1; second <= reference.effects.size() + 1; ++second)
      if (number++ % stride == 0)
        out.push_back({{at_effect(FaultKind::kCrash, first, Moment::kAfterApply, 1s),
                        at_effect(FaultKind::kCrash, second, Moment::kAfterApply, 1s)}});
  return out;
}

std::vector<Plan> stale_plans(const Outcome& reference) {
  std::vector<Plan> out;
  for (std::uint64_t effect = 1; effect <= reference.effects.size(); ++effect) {
    const auto lagging =
        for_everybody(at_effect(FaultKind::kFreezeWatches, effect, Moment::kBefore, 40s));
    out.push_back({{lagging}});
    out.push_back({{lagging, at_effect(FaultKind::kCrash, effect, Moment::kAfterApply, 1s)}});
    out.push_back({{at_effect(FaultKind::kPause, effect, Moment::kBefore, 45s)}});
    out.push_back({{for_everybody(at_effect(FaultKind::kHalfOpen, effect, Moment::kBefore, 0s))}});
  }
  return out;
}

std::vector<Plan> every(std::size_t n, std::vector<Plan> plans) {
  std::vector<Plan> out;
  for (std::size_t i = 0; i < plans.size(); i += n) out.push_back(std::move(plans[i]));
  return out;
}

std::vector<Plan> delete_plans(const Outcome& reference) {
  std::vector<Plan> out;
  for (std::uint64_t effect = 1; effect <= reference.effects.size(); ++effect) {
    out.push_back({{at_effect(FaultKind::kDeleteCluster, effect, Moment::kBefore, 0s)}});
    out.push_back({{at_effect(FaultKind::kRecreateCluster, effect, Moment::kBefore, 1s)}});
  }
  return out;
}

namespace {

// Whether one of the paths names the object, and the other the same or a part of it: c-0,
// c-0/status.
bool same_object(std::string_view one, std::string_view other) {
  if (one.size() > other.size()) std::swap(one, other);
  return other.starts_with(one) && (other.size() == one.size() || other[one.size()] == '/');
}

}  // namespace

std::vector<Plan> unobserved_plans(const Outcome& reference) {
  std::vector<Plan> out;
  const auto& effects = reference.effects;
  for (std::size_t first = 0; first < effects.size(); ++first)
    for (auto second = first + 1; second < effects.size(); ++second) {
      const auto hidden = effects[second].at - effects[first].at - 1ms;
      if (!same_object(effects[first].path, effects[second].path) || hidden <= 0ms) continue;
      out.push_back({{for_everybody(
          at_effect(FaultKind::kFreezeWatches, first + 1, Moment::kBefore, hidden))}});
      break;
    }
  return out;
}

// ---- Minimising ----

Trial minimise(Trial failing, const std::string& id, int runs) {
  auto still_fails = [&](const Trial& trial) { return runs-- > 0 && run(trial).violates(id); };
  failing.plan.faults = minimise_list<Fault>(failing.plan.faults, [&](const auto& faults) {
    auto less = failing;
    less.plan.faults = faults;
    return still_fails(less);
  });
  failing.edits = minimise_list<Edit>(failing.edits, [&](const auto& edits) {
    auto less = failing;
    less.edits = edits;
    return still_fails(less);
  });
  for (std::size_t i = 0; i < failing.plan.faults.size(); ++i) {
    auto less = failing;
    less.plan.faults[i].duration /= 2;
    less.plan.faults[i].count = 1;
    if (less.plan != failing.plan && still_fails(less)) failing = std::move(less);
  }
  return failing;
}

// ---- Replay files ----

std::string render_replay(const Trial& trial) {
  json::Object out{
      {"scenario", trial.scenario->name}, {"seed", trial.seed}, {"plan", encode(trial.plan)}};
  if (!trial.edits.empty()) out["edits"] = encode(trial.edits);
  if (trial.mutant) out["mutant"] = trial.mutant->name;
  if (trial.length) out["lengthMs"] = *trial.length / 1ms;
  if (trial.reference) {
    json::Object counts;
    for (const auto& [what, count] : *trial.reference) counts[what] = count;
    out["reference"] = std::move(counts);
  }
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
  if (const auto* edits = json::find(document, "/edits")) {
    TRY(trial.edits, decode_edits(*edits));
  }
  if (auto length = json::integer_at(document, "/lengthMs"))
    trial.length = std::chrono::milliseconds(*length);
  if (const auto mutant = json::text_or(document, "/mutant", ""); !mutant.empty()) {
    trial.mutant = find_mutant(mutant);
    if (!trial.mutant) return fail(Code::kInvalid, fmt::format("no mutant is called {}", mutant));
  }
  if (auto counts = json::object_at(document, "/reference")) {
    auto reference = std::make_shared<Counts>();
    for (const auto& [what, count] : **counts)
      (*reference)[std::string(what)] = static_cast<int>(count.to_number<std::int64_t>());
    trial.reference = std::move(reference);
  }
  return trial;
}

}  // namespace quorate::sim

#include "tests/sim/plans/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "apiserver/registry.h"
#include "base/check.h"
#include "tests/sim/invariants/requests.h"
#include "tests/sim/plans/story.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

// A container that failed often waits five minutes before its next start; a
// lost lease, a minute.
constexpr auto kConverge = 12min;
constexpr auto kStay = 2min;

Counts count_writes(const Audit& audit) {
  Counts out;
  for (const auto& entry : audit.entries) {
    if (entry.effect == 0 || !succeeded(entry)) continue;
    auto spoken = parse_path(entry.path);
    if (!spoken || (entry.method != "POST" && entry.method != "DELETE")) continue;
    auto name = spoken->key.name;
    if (name.empty())
      if (auto body = json::parse(entry.body)) name = json::text_or(*body, "/metadata/name", "");
    ++out[fmt::format("{} {} {}", entry.method, spoken->plural, name)];
  }
  return out;
}

// How many objects there are of what operators make, and of what follows from it.
void count_left(World& world, Counts& counts) {
  const auto& registry = world.api().registry();
  const auto& built_in = registry.built_in();
  for (const auto* kind : {built_in.pods, built_in.claims, built_in.services, built_in.secrets,
                           registry.find_kind(api::kApiVersion, api::kMemberKind.kind),
                           registry.find_kind("policy/v1", "PodDisruptionBudget")})
    counts["LEFT " + kind->plural] = static_cast<int>(world.api().storage().objects(*kind).size());
}

// What is stored, asked and answered, as one number.
class Digest {
 public:
  void add(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x9e3779b97f4a7c15ULL;
    state_ ^= state_ >> 29;
  }
  void add(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    add(hash);
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

std::uint64_t digest_of(World& world) {
  Digest digest;
  digest.add(world.loop().trace_hash());
  for (const auto& entry : world.audit().entries) {
    digest.add(entry.path);
    digest.add(entry.body);
    digest.add(static_cast<std::uint64_t>(entry.status));
  }
  for (const auto& operation : world.history().operations) {
    digest.add(operation.key);
    digest.add(operation.value);
    digest.add(static_cast<std::uint64_t>(operation.revision));
  }
  for (const auto& kind : world.api().registry().kinds())
    if (!kind->stored_as)
      for (const auto& [key, record] : world.api().storage().objects(*kind))
        digest.add(record->text);
  return digest.value();
}

class Run {
 public:
  Run(const Trial& trial, const Tell& tell) : trial_(trial), world_(options(tell)) {
    checker_.emplace(world_);
    if (tell) story_.emplace(world_, tell);
    world_.after_step = [this] {
      if (story_) story_->look();
      checker_->after_step();
    };
    if (story_)
      world_.tell = [this](std::string_view who, const std::string& what) {
        story_->say(who, what);
      };
  }

  Outcome finish() {
    try {
      live();
    } catch (const BrokenInvariant& broken) {
      checker_->findings().broken("CHECK", broken.what());
    }
    return collect();
  }

 private:
  WorldOptions options(const Tell& tell) const {
    WorldOptions out;
    out.seed = trial_.seed;
    out.nodes = trial_.scenario->nodes;
    out.operators = trial_.scenario->operators;
    out.plan = trial_.plan;
    out.log = tell;
    if (trial_.scenario->setup) trial_.scenario->setup(out);
    if (trial_.mutant) trial_.mutant->apply(out);
    return out;
  }

  void live() {
    world_.start();
    misfortunes();
    if (is_over()) return;
    world_.fate().calm_down();
    const auto calm_since = world_.elapsed();
    calm_since_ = calm_since;
    say("calm", "nothing goes wrong from here on");
    auto ending = make_ending();
    ending.settled =
        world_.run_until([this] { return is_over() || settles(); }, kConverge + setback());
    if (is_over()) return;
    outcome_.converged_after = world_.elapsed() - calm_since;
    if (ending.settled) stay(ending);
    if (is_over()) return;
    find_stuck(ending);
    checker_->at_calm();
    ending.counts = counted();
    checker_->at_end(ending);
  }

  Counts counted() {
    auto out = count_writes(world_.audit());
    count_left(world_, out);
    return out;
  }

  void say(std::string_view who, std::string_view what) {
    if (story_) story_->say(who, what);
  }

  // Nobody wants to see more of it.
  bool is_over() {
    if (trial_.ends_after && world_.elapsed() >= *trial_.ends_after) return true;
    const auto& ends = trial_.ends_with;
    return std::any_of(ends.begin(), ends.end(),
                       [this](const auto& id) { return checker_->findings().is_broken(id); });
  }
  void pass(Duration time) {
    static_cast<void>(world_.run_until([this] { return is_over(); }, time));
  }

  // ---- The story ----

  void misfortunes() {
    std::multimap<Duration, std::function<void()>> agenda;
    const auto& scenario = *trial_.scenario;
    for (const auto& act : scenario.acts)
      agenda.emplace(act.at, [this, &act] {
        say("user", act.says);
        const auto declared = world_.declared();
        outcome_.deeds.emplace_back(act.says, declared.empty()
                                                  ? Activity::kNothing
                                                  : activity_of(world_, declared.front()));
        noting_version([&] { act.what(world_); });
      });
    for (const auto& edit : trial_.edits)
      agenda.emplace(edit.at, [this, &edit] { carry_out(edit); });
    for (const auto& expected : scenario.expects)
      agenda.emplace(expected.at, [this, &expected] {
        checker_->truth().look();
        expected.invariant.asked(checker_->truth(), checker_->findings());
      });
    const auto length = trial_.length.value_or(scenario.length);
    for (const auto& [at, what] : agenda) {
      if (at > length) break;
      if (at > world_.elapsed()) pass(at - world_.elapsed());
      if (is_over()) return;
      what();
    }
    if (length > world_.elapsed()) pass(length - world_.elapsed());
    if (!trial_.edits.empty()) {
      say("user", "declares again what was declared first");
      declare_base(world_, scenario.clusters.front(), *scenario.base);
    }
  }

  // What the user does, and whether that is to declare another version of what has clients.
  void noting_version(const std::function<void()>& what) {
    const auto declared = world_.declared();
    const auto before = declared.empty() ? std::string() : version_of(declared.front());
    what();
    if (before.empty() || !world_.was_served(declared.front())) return;
    const auto after = version_of(declared.front());
    if (!after.empty() && after != before) outcome_.versions.emplace_back(before, after);
  }
  std::string version_of(const std::string& cluster) {
    const auto object = world_.cluster(cluster);
    return object ? std::string(json::text_or(*object, "/spec/version", api::kDefaultEtcdVersion))
                  : std::string();
  }

  void carry_out(const Edit& edit) {
    Result<void> accepted;
    noting_version(
        [&] { accepted = world_.declare(trial_.scenario->clusters.front(), edit.spec); });
    say("user", fmt::format("{} {}: {}", edit.property, edit.how,
                            accepted ? "accepted" : accepted.error().text()));
    ++(accepted ? outcome_.edits : outcome_.refused)[edit.property + " " + edit.how];
  }

  // ---- The end ----

  // A node that was away is back, and the operator has not looked since: what is left there of a
  // removed member goes in a moment. One that never returns holds nobody up.
  bool is_about_to_tidy(const std::string& name) {
    const auto object = world_.cluster(name);
    if (!object || world_.elapsed() - calm_since_ > 60s) return false;
    const auto waiting = json::array_at(*object, "/status/waiting");
    return waiting && std::any_of((*waiting)->begin(), (*waiting)->end(), [](const auto& entry) {
             return json::text_or(entry, "/reason", "") == "NodeAway";
           });
  }

  bool settles() {
    const auto& scenario = *trial_.scenario;
    if (std::any_of(scenario.clusters.begin(), scenario.clusters.end(),
                    [this](const auto& name) { return is_about_to_tidy(name); }))
      return false;
    return std::all_of(scenario.clusters.begin(), scenario.clusters.end(),
                       [this](const auto& name) { return is_as_wanted(name); }) &&
           std::all_of(scenario.gone.begin(), scenario.gone.end(),
                       [this](const auto& name) { return world_.is_gone(name); });
  }

  // What cannot become as declared may wait for a leader who has only just come, and lets the time
  // of the one before pass.
  void await_leader() {
    const auto has_looked = [](const auto& replica) {
      return replica->leading() &&
             replica->metrics().find("\nquorate_reconciles_total 0\n") == std::string::npos;
    };
    for (int seconds = 0; seconds < 60; ++seconds) {
      const auto& replicas = world_.replicas();
      if (std::any_of(replicas.begin(), replicas.end(), has_looked)) return;
      pass(1s);
    }
  }

  // Who measures by a clock that was set back may wait for so much longer.
  Duration setback() const {
    Duration out{};
    for (const auto& fault : trial_.plan.faults)
      if (fault.kind == FaultKind::kWallJump && fault.duration < Duration::zero())
        out -= fault.duration;
    return out;
  }

  // What somebody deleted need not stand, but must not leave anything behind.
  bool is_as_wanted(const std::string& name) {
    const bool deleted = world_.fate().injected().contains(FaultKind::kDeleteCluster);
    return deleted && !world_.cluster(name) ? world_.is_gone(name) : world_.converged(name);
  }

  // Every story asks for one thing.
  Ending make_ending() const {
    const auto& scenario = *trial_.scenario;
    Ending out;
    out.asks = !scenario.gone.empty()  ? "L8"
               : scenario.heals        ? "L5"
               : !trial_.edits.empty() ? "L2"
                                       : "L1";
    out.clusters = scenario.clusters;
    out.destroyed = destroys(scenario, trial_.plan);
    if (only_operators(trial_.plan)) out.reference = trial_.reference;
    return out;
  }

  // Once it is as declared it stays so.
  void stay(Ending& ending) {
    say("calm", "it is as declared");
    await_leader();
    pass(10s);  // the last reports
    ending.rests_since = world_.audit().entries.size();
    pass(kStay);
    ending.stayed = settles();
    outcome_.quiet = true;
  }

  // Where data was destroyed it is right not to become as declared, if status says why.
  void find_stuck(Ending& ending) {
    if (!ending.settled)
      for (const auto& name : trial_.scenario->clusters)
        if (!is_as_wanted(name)) ending.stuck.push_back(name);
    for (const auto& name : trial_.scenario->hopeless)
      if (!world_.converged(name)) ending.stuck.push_back(name);  // else nothing known of is lost
    for (const auto& name : ending.stuck) tell_waiting(name);
  }

  void tell_waiting(const std::string& name) {
    const auto cluster = world_.cluster(name);
    const auto waiting = cluster ? json::array_at(*cluster, "/status/waiting")
                                 : Result<const json::Array*>(fail(Code::kNotFound, name));
    if (!waiting) return;
    for (const auto& entry : **waiting)
      say("status",
          fmt::format("{}: {} {}: {}", name, json::text_or(entry, "/verdict", ""),
                      json::text_or(entry, "/reason", ""), json::text_or(entry, "/message", "")));
  }

  Outcome collect() {
    auto out = std::move(outcome_);
    out.violations = checker_->findings().violations();
    out.steps = world_.steps();
    out.virtual_time = world_.elapsed();
    out.digest = digest_of(world_);
    out.effects = world_.fate().effects();
    out.counts = counted();
    out.acknowledged = world_.history().acknowledged;
    out.injected = world_.fate().injected();
    out.injections = world_.fate().injections();
    for (const auto& entry : world_.audit().entries) ++out.answers[entry.status];
    out.evaluations = checker_->findings().evaluations();
    return out;
  }

  const Trial& trial_;
  Duration calm_since_{};
  World world_;
  std::optional<Checker> checker_;
  std::optional<Story> story_;
  Outcome outcome_;
};

}  // namespace

const Violation* Outcome::find_violation(std::string_view id) const {
  for (const auto& violation : violations)
    if (violation.id == id) return &violation;
  return nullptr;
}

bool destroys(const Scenario& scenario, const Plan& plan) {
  return std::any_of(plan.faults.begin(), plan.faults.end(), [&](const Fault& fault) {
    switch (fault.kind) {
      case FaultKind::kWipe:
      case FaultKind::kWipeAndKill:
      case FaultKind::kBlankDisk:
      case FaultKind::kLoseVolume:
      case FaultKind::kCorruptLog:
      case FaultKind::kCorruptDatabase:
      case FaultKind::kTamper:
      case FaultKind::kRaiseCorrupt:
      case FaultKind::kRollBack:
      case FaultKind::kLoseNode:
        return true;
      case FaultKind::kDeletePod:
      case FaultKind::kEvictPod:
      case FaultKind::kPowerOff:
      case FaultKind::kCutNode:
        return scenario.pod_bound;
      default:
        return false;
    }
  });
}

bool only_operators(const Plan& plan) {
  return std::all_of(plan.faults.begin(), plan.faults.end(),
                     [](const Fault& fault) { return fault.kind <= FaultKind::kCutFromEtcd; });
}

Outcome run(const Trial& trial, const Tell& tell) { return Run(trial, tell).finish(); }

}  // namespace quorate::sim

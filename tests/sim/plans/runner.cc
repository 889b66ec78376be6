#include "tests/sim/plans/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/registry.h"
#include "base/check.h"
#include "base/launch_contract.h"
#include "tests/sim/invariants/requests.h"
#include "tests/sim/plans/story.h"

namespace quorate::sim {
namespace {

using namespace std::chrono_literals;

// A container that failed often waits five minutes before its next start; a
// lost lease, a minute.
constexpr auto kConverge = 12min;
constexpr auto kStay = 2min;
constexpr auto kClientPatience = 15s;

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
    say("calm", "nothing goes wrong from here on");
    const bool settled =
        world_.run_until([this] { return is_over() || settles(); }, kConverge + setback());
    if (is_over()) return;
    outcome_.converged_after = world_.elapsed() - calm_since;
    if (settled)
      stay();
    else
      explain_wait();
    if (is_over()) return;
    for (const auto& name : trial_.scenario->hopeless)
      if (!world_.converged(name)) must_say_why(name);  // else nothing that was known of is lost
    checker_->at_calm();
    compare_counts();
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
        act.what(world_);
      });
    for (const auto& edit : trial_.edits)
      agenda.emplace(edit.at, [this, &edit] { carry_out(edit); });
    for (const auto& expected : scenario.expects)
      agenda.emplace(expected.at, [this, &expected] {
        checker_->findings().evaluated(expected.id);
        if (!expected.holds(world_)) checker_->findings().broken(expected.id, expected.says);
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

  void carry_out(const Edit& edit) {
    const auto accepted = world_.declare(trial_.scenario->clusters.front(), edit.spec);
    say("user", fmt::format("{} {}: {}", edit.property, edit.how,
                            accepted ? "accepted" : accepted.error().text()));
    ++(accepted ? outcome_.edits : outcome_.refused)[edit.property + " " + edit.how];
  }

  // ---- The end ----

  bool settles() {
    const auto& scenario = *trial_.scenario;
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
  bool is_served(const std::string& name) {
    const auto object = world_.cluster(name);
    return object && json::integer_at(*object, "/spec/replicas").value_or(1) > 0;
  }

  // Once it is as declared it stays so, nothing more is written, and clients
  // are served.
  void stay() {
    say("calm", "it is as declared");
    await_leader();
    pass(10s);  // the last reports
    const auto before = world_.audit().entries.size();
    pass(kStay);
    if (is_over()) return;
    auto& findings = checker_->findings();
    findings.evaluated("L1");
    if (trial_.scenario->heals) findings.evaluated("L5");
    if (!trial_.edits.empty()) findings.evaluated("L2");
    if (!trial_.scenario->gone.empty()) findings.evaluated("L8");
    if (!settles()) findings.broken("L1", "it was as declared, and is not any more");
    findings.evaluated("S28");
    outcome_.quiet = true;
    for (auto i = before; i < world_.audit().entries.size(); ++i) {
      const auto& entry = world_.audit().entries[i];
      if (entry.effect != 0 && succeeded(entry))
        findings.broken("S28", fmt::format("{}: {} {} in a cluster in which nothing happens",
                                           entry.actor, entry.method, entry.path));
    }
    findings.evaluated("L13");
    if (std::none_of(world_.replicas().begin(), world_.replicas().end(),
                     [](const auto& replica) { return replica->leading(); }))
      findings.broken("L13", "no operator leads");
    const auto& clusters = trial_.scenario->clusters;
    if (!std::any_of(clusters.begin(), clusters.end(),
                     [this](const auto& name) { return is_served(name); }))
      return;
    findings.evaluated("L4");
    for (auto& client : world_.clients())
      if (!client->last_success() || world_.now() - *client->last_success() > kClientPatience)
        findings.broken("L4", "a client is not served");
  }

  // It is not as declared. Where data was destroyed that is right, if status
  // says why.
  void explain_wait() {
    auto& findings = checker_->findings();
    if (!destroys(*trial_.scenario, trial_.plan)) {
      const char* id = !trial_.scenario->gone.empty() ? "L8"
                       : trial_.scenario->heals       ? "L5"
                       : trial_.edits.empty()         ? "L1"
                                                      : "L2";
      findings.evaluated(id);
      findings.broken(id, "it is not as declared, long after all is calm");
    }
    for (const auto& name : trial_.scenario->clusters)
      if (!is_as_wanted(name)) must_say_why(name);
  }

  void must_say_why(const std::string& name) {
    auto& findings = checker_->findings();
    findings.evaluated("L7");
    const auto cluster = world_.cluster(name);
    const auto* waiting = cluster ? json::find(*cluster, "/status/waiting") : nullptr;
    if (!waiting || !waiting->is_array() || waiting->as_array().empty()) {
      findings.broken("L7", fmt::format("{} makes no progress, and status does not say why", name));
      return;
    }
    for (const auto& entry : waiting->as_array())
      say("status",
          fmt::format("{}: {} {}: {}", name, json::text_or(entry, "/verdict", ""),
                      json::text_or(entry, "/reason", ""), json::text_or(entry, "/message", "")));
    // What is lost is named.
    const auto text = json::render(*waiting);
    for (const auto& pod : lost_members(name)) {
      findings.evaluated("L14");
      if (text.find(pod) == std::string::npos)
        findings.broken("L14", fmt::format("{} has lost its data, status does not say so", pod));
    }
  }

  // Members of the cluster that the guard does not let start for want of data; not what is left in
  // its ledger of those that were replaced.
  std::set<std::string> lost_members(const std::string& cluster) {
    std::set<std::string> out;
    const auto& pods = *world_.api().registry().built_in().pods;
    for (const auto& refusal : world_.ledger().refusals) {
      const auto& pod = refusal.pod;
      if (refusal.code == launch::kExitLost && pod.name.substr(0, pod.name.rfind('-')) == cluster &&
          !world_.process_of(pod) && world_.api().storage().find(pods, pod))
        out.insert(pod.name);
    }
    return out;
  }

  void compare_counts() {
    if (!trial_.reference || !only_operators(trial_.plan)) return;
    auto& findings = checker_->findings();
    findings.evaluated("L3");
    const auto counts = count_writes(world_.audit());
    for (const auto& [what, count] : counts) {
      auto found = trial_.reference->find(what);
      const auto expected = found == trial_.reference->end() ? 0 : found->second;
      if (count > expected)
        findings.broken("L3",
                        fmt::format("{}: {} times, {} without faults", what, count, expected));
    }
    for (const auto& [what, expected] : *trial_.reference)
      if (!counts.contains(what))
        findings.broken("L3", fmt::format("{}: never, {} without faults", what, expected));
  }

  Outcome collect() {
    auto out = std::move(outcome_);
    out.violations = checker_->findings().violations();
    out.steps = world_.steps();
    out.virtual_time = world_.elapsed();
    out.digest = digest_of(world_);
    out.effects = world_.fate().effects();
    out.counts = count_writes(world_.audit());
    out.acknowledged = world_.history().acknowledged;
    out.injected = world_.fate().injected();
    out.injections = world_.fate().injections();
    for (const auto& entry : world_.audit().entries) ++out.answers[entry.status];
    out.evaluations = checker_->findings().evaluations();
    return out;
  }

  const Trial& trial_;
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

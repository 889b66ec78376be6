#include "tests/sim/plans/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/cluster.h"
#include "apiserver/registry.h"
#include "tests/sim/invariants/requests.h"

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

class Run {
 public:
  Run(const Trial& trial, const std::function<void(std::string_view)>& tell)
      : trial_(trial), tell_(tell), world_(options()), checker_(world_) {
    world_.after_step = [this] { checker_.after_step(); };
  }

  Outcome finish() {
    world_.start();
    misfortunes();
    world_.fate().calm_down();
    const auto calm_since = world_.elapsed();
    say("calm");
    const bool settled = world_.run_until([this] { return settles(); }, kConverge);
    Outcome out;
    out.converged_after = world_.elapsed() - calm_since;
    if (settled)
      stay();
    else
      explain_wait();
    checker_.at_calm();
    compare_counts();
    return collect(std::move(out));
  }

 private:
  WorldOptions options() const {
    WorldOptions out;
    out.seed = trial_.seed;
    out.nodes = trial_.scenario->nodes;
    out.operators = trial_.scenario->operators;
    out.plan = trial_.plan;
    out.log = tell_;
    if (trial_.mutant) trial_.mutant->apply(out);
    return out;
  }

  void say(std::string_view what) {
    if (tell_) tell_(fmt::format("{:>9} ms  {}\n", world_.elapsed() / 1ms, what));
  }

  void misfortunes() {
    for (const auto& act : trial_.scenario->acts) {
      if (act.at > world_.elapsed()) world_.run_for(act.at - world_.elapsed());
      say("the user " + act.says);
      act.what(world_);
    }
    const auto length = trial_.length.value_or(trial_.scenario->length);
    if (length > world_.elapsed()) world_.run_for(length - world_.elapsed());
  }

  bool settles() {
    const auto& scenario = *trial_.scenario;
    return std::all_of(scenario.clusters.begin(), scenario.clusters.end(),
                       [this](const auto& name) { return world_.converged(name); }) &&
           std::all_of(scenario.gone.begin(), scenario.gone.end(), [this](const auto& name) {
             return !world_.cluster(name) && world_.member_pods().empty();
           });
  }

  // Once it is as declared it stays so, nothing more is written, and clients
  // are served.
  void stay() {
    say("as declared");
    world_.run_for(10s);  // the last reports
    const auto before = world_.audit().entries.size();
    world_.run_for(kStay);
    auto& findings = checker_.findings();
    findings.evaluated("L1");
    if (!settles()) findings.broken("L1", "it was as declared, and is not any more");
    findings.evaluated("S28");
    for (auto i = before; i < world_.audit().entries.size(); ++i) {
      const auto& entry = world_.audit().entries[i];
      if (entry.effect != 0 && succeeded(entry))
        findings.broken("S28", fmt::format("{}: {} {} in a cluster in which nothing happens",
                                           entry.actor, entry.method, entry.path));
    }
    if (trial_.scenario->clusters.empty()) return;
    findings.evaluated("L4");
    for (auto& client : world_.clients())
      if (!client->last_success() || world_.now() - *client->last_success() > kClientPatience)
        findings.broken("L4", "a client is not served");
    findings.evaluated("L13");
    if (std::none_of(world_.replicas().begin(), world_.replicas().end(),
                     [](const auto& replica) { return replica->leading(); }))
      findings.broken("L13", "no operator leads");
  }

  // It is not as declared. Where data was destroyed that is right, if status
  // says why.
  void explain_wait() {
    auto& findings = checker_.findings();
    if (!destroys(*trial_.scenario, trial_.plan)) {
      findings.evaluated("L1");
      findings.broken("L1", "it is not as declared, long after all is calm");
    }
    for (const auto& name : trial_.scenario->clusters) {
      findings.evaluated("L7");
      const auto cluster = world_.cluster(name);
      const auto* waiting = cluster ? json::find(*cluster, "/status/waiting") : nullptr;
      if (!waiting || !waiting->is_array() || waiting->as_array().empty())
        findings.broken("L7",
                        fmt::format("{} makes no progress, and status does not say why", name));
      if (tell_ && cluster) tell_(json::render(*cluster) + "\n");
    }
  }

  void compare_counts() {
    if (!trial_.reference || !only_operators(trial_.plan)) return;
    auto& findings = checker_.findings();
    findings.evaluated("L3");
    const auto counts = count_writes(world_.audit());
    for (const auto& [what, count] : counts) {
      auto found = trial_.reference->find(what);
      const auto expected = found == trial_.reference->end() ? 0 : found->second;
      if (count > expected)
        findings.broken("L3",
                        fmt::format("{}: {} times, {} without faults", what, count, expected));
    }
  }

  Outcome collect(Outcome out) {
    out.violations = checker_.findings().violations();
    out.steps = world_.steps();
    out.virtual_time = world_.elapsed();
    out.trace_hash = world_.loop().trace_hash();
    out.effects = world_.fate().effects();
    out.counts = count_writes(world_.audit());
    out.acknowledged = world_.history().acknowledged;
    out.injected = world_.fate().injected();
    out.evaluations = checker_.findings().evaluations();
    return out;
  }

  const Trial& trial_;
  const std::function<void(std::string_view)>& tell_;
  World world_;
  Checker checker_;
};

}  // namespace

bool Outcome::violates(std::string_view id) const {
  return std::any_of(violations.begin(), violations.end(),
                     [&](const Violation& violation) { return violation.id == id; });
}

bool destroys(const Scenario& scenario, const Plan& plan) {
  return std::any_of(plan.faults.begin(), plan.faults.end(), [&](const Fault& fault) {
    switch (fault.kind) {
      case FaultKind::kWipe:
      case FaultKind::kWipeAndKill:
      case FaultKind::kCorruptLog:
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

Outcome run(const Trial& trial, const std::function<void(std::string_view)>& tell) {
  return Run(trial, tell).finish();
}

}  // namespace quorate::sim

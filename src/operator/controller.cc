#include "operator/controller.h"

#include <algorithm>

#include "base/check.h"
#include "plan/decide.h"

namespace quorate::op {
namespace {

// Longer than a watch needs to show us our own write, shorter than somebody's patience.
constexpr auto kCatchUp = std::chrono::seconds(10);

}  // namespace

ClusterController::ClusterController(rt::Runtime runtime, const Scopes& scopes,
                                     std::span<const plan::Rule> rules, Log log)
    : runtime_(runtime), scopes_(scopes), rules_(rules), log_(std::move(log)), queue_(runtime) {}

void ClusterController::subscribe() {
  for (const auto& scope : scopes_.all()) subscribe(scope->caches);
}

void ClusterController::subscribe(Caches& caches) {
  caches.clusters.subscribe([this](const auto& change) {
    const bool edited = !change.before || !change.after ||
                        change.before->meta.generation != change.after->meta.generation;
    const ClusterKey key{change.key};
    // Of one that was never looked at, nothing is to be forgotten. A replica that does not lead
    // looks at none, and must not remember all that ever were.
    if (!change.after && !memories_.contains(key))
      queue_.withdraw(key);
    else
      queue_.add(key, edited ? rt::Priority::kUserEdit : rt::Priority::kEvent);
  });
  const auto wake_owner = [this, &caches](const auto& change) {
    const auto& view = *(change.after ? change.after : change.before);
    const ClusterKey key{{view.meta.key.ns, view.cluster}};
    if (caches.clusters.contains(key)) queue_.add(key, rt::Priority::kEvent);
  };
  caches.records.subscribe(wake_owner);
  caches.claims.subscribe(wake_owner);
  caches.pods.subscribe(wake_owner);
  const auto wake_owner_and_heirs = [this, &caches, wake_owner](std::string_view kind) {
    return [this, &caches, wake_owner, kind](const auto& change) {
      wake_owner(change);
      if (!change.after) wake_heirs(caches, kind, change.key);
    };
  };
  caches.services.subscribe(wake_owner_and_heirs(kube::kServices.kind));
  caches.budgets.subscribe(wake_owner_and_heirs(kube::kPodDisruptionBudgets.kind));
  caches.secrets.subscribe(wake_owner_and_heirs(kube::kSecrets.kind));
}

void ClusterController::wake_heirs(const Caches& caches, std::string_view kind,
                                   const ObjectKey& gone) {
  for (auto which : plan::kAllShared) {
    const auto suffix = plan::name_of(which, "");
    if (plan::kind_of(which) != kind || !gone.name.ends_with(suffix)) continue;
    const ClusterKey heir{{gone.ns, gone.name.substr(0, gone.name.size() - suffix.size())}};
    if (!caches.clusters.contains(heir)) continue;
    queue_.forget(heir);
    queue_.add(heir, rt::Priority::kEvent);
  }
}

void ClusterController::start(rt::TaskGroup& group, int workers) {
  for (int i = 0; i < workers; ++i) group.spawn("worker " + std::to_string(i), work());
}

Task<void> ClusterController::work() {
  while (true) {
    auto key = co_await queue_.next(rt::Deadline::never());
    if (!key) co_return;
    co_await work_on(*key);
    queue_.done(*key);
  }
}

// The barrier of this fiber: a broken invariant met in one cluster is reported and backs off like a
// failure; the worker goes on.
Task<void> ClusterController::work_on(ClusterKey key) {
  ++counters_.reconciles;
  const auto began = runtime_.clock->now();
  Result<Next> next = fail(Code::kInternal, "not looked at");
  try {
    next = co_await reconcile(key);
  } catch (const BrokenInvariant& broken) {
    ++counters_.broken;
    next = fail(Code::kInternal, broken.what());
  }
  counters_.took.add(runtime_.clock->now() - began);
  if (next && !next->failed) {
    queue_.forget(key);
    if (next->after) queue_.add_after(key, *next->after);
    co_return;
  }
  if (!next && next.error() == Code::kCancelled) co_return;
  ++counters_.failures;
  if (!next)
    log_.warn(
        "reconcile failed",
        {{"cluster", key}, {"reconcile", memories_[key].reconciles}, {"error", next.error()}});
  queue_.retry(key);
  if (next && next->held) queue_.add_after(key, *next->held);
}

Task<Result<Next>> ClusterController::reconcile(ClusterKey key) {
  auto& scope = scopes_.of(key.ns);
  auto& memory = memories_[key];  // stays where it is: only this key's own reconcile erases it
  ++memory.reconciles;  // from here on the number of this look, on every log line about it
  auto written = std::move(memory.written);
  memory.written.clear();
  if (auto shown = co_await scope.caches.wait_until_caught_up(written, runtime_.in(kCatchUp));
      !shown) {
    memory.written = std::move(written);
    co_return fail(shown.error().in("wait for our own writes to show"));
  }

  auto seen = co_await scope.observer.observe(key, memory);
  if (!seen && seen.error() == Code::kNotFound) {
    memories_.erase(key);
    co_return Next{};
  }
  if (!seen) co_return fail(seen.error());
  auto decision = plan::decide(*seen, rules_);
  if (Executor::forget_unwanted(decision, *seen, memory)) decision = plan::decide(*seen, rules_);
  summarize(decision, *seen, memory);
  CO_TRY(const auto taken, co_await scope.executor.carry_out(decision, *seen, memory));
  // The intent stays, until it is known what became of the step.
  if (taken.unresolved && decision.status && seen->cluster.status)
    decision.status->intent = seen->cluster.status->intent;
  CO_TRY(const auto held, co_await scope.publisher.publish(decision, *seen, memory));

  Next next;
  next.failed = !taken.all;
  next.after = scope.observer.period();
  if (decision.look_again_in) next.after = std::min(*next.after, *decision.look_again_in);
  if (held) next.after = std::min(*next.after, *held);
  next.held = held;
  co_return next;
}

// What metrics and `/debug/clusters` show until the next look.
void ClusterController::summarize(const plan::Decision& decision, const plan::Observation& seen,
                                  ClusterMemory& memory) {
  memory.ask_members = decision.ask_members;
  memory.ask_hashes = decision.ask_hashes;
  memory.ask_endpoints = decision.ask_endpoints;
  memory.rulings.clear();
  for (const auto& ruling : decision.rulings)
    if (!ruling.verdicts.empty()) memory.rulings.push_back(ruling);
  memory.pods = static_cast<int>(
      std::count_if(seen.pods.begin(), seen.pods.end(),
                    [&](const plan::PodFacts& pod) { return pod.controller == seen.cluster.uid; }));
  memory.certificates_end.reset();
  for (const auto& shared : seen.shared)
    if (shared.certificate &&
        (!memory.certificates_end || shared.certificate->not_after < *memory.certificates_end))
      memory.certificates_end = shared.certificate->not_after;
  if (!decision.status) return;
  memory.true_conditions = 0;
  for (const auto& condition : decision.status->conditions) {
    const auto bit = bit_of(condition.type);  // also of those that are not True: metrics show 0
    if (condition.status == api::ConditionStatus::kTrue) memory.true_conditions |= bit;
  }
  memory.members = {};
  for (const auto& member : decision.status->members) {
    const bool votes = member.role == api::MemberRole::kVoter;
    memory.members += {votes, votes && member.ready, !votes};
  }
}

std::uint32_t ClusterController::bit_of(const std::string& condition) {
  auto found = std::find(condition_types_.begin(), condition_types_.end(), condition);
  if (found == condition_types_.end()) {
    CHECK(condition_types_.size() < 32, "more types of conditions than bits");
    found = condition_types_.insert(found, condition);
  }
  return 1U << (found - condition_types_.begin());
}

}  // namespace quorate::op

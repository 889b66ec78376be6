#include "operator/controller.h"

#include "api/names.h"
#include "base/check.h"
#include "plan/decide.h"

namespace quorate::op {
namespace {

// Longer than a watch needs to show us our own write, shorter than somebody's patience.
constexpr auto kCatchUp = std::chrono::seconds(10);

void summarize(const plan::Decision& decision, ClusterMemory& memory) {
  ++memory.reconciles;
  memory.rulings = decision.rulings;
  memory.ask_members = decision.ask_members;
  memory.ask_endpoints = decision.ask_endpoints;
  if (!decision.status) return;
  memory.conditions.clear();
  for (const auto& condition : decision.status->conditions)
    memory.conditions[condition.type] = condition.status;
  memory.replicas = decision.status->replicas;
  memory.ready_replicas = decision.status->ready_replicas;
}

}  // namespace

ClusterController::ClusterController(rt::Runtime runtime, Caches& caches, Observer& observer,
                                     Executor& executor, Publisher& publisher,
                                     std::span<const plan::Rule> rules, Log log)
    : runtime_(runtime),
      caches_(caches),
      observer_(observer),
      executor_(executor),
      publisher_(publisher),
      rules_(rules),
      log_(std::move(log)),
      queue_(runtime) {}

void ClusterController::subscribe() {
  caches_.clusters.subscribe([this](const auto& change) {
    const bool edited = !change.before || !change.after ||
                        change.before->meta.generation != change.after->meta.generation;
    queue_.add(ClusterKey{change.key}, edited ? rt::Priority::kUserEdit : rt::Priority::kEvent);
  });
  const auto wake_owner = [this](const auto& change) {
    wake((change.after ? change.after : change.before)->meta, rt::Priority::kEvent);
  };
  caches_.records.subscribe(wake_owner);
  caches_.claims.subscribe(wake_owner);
  caches_.pods.subscribe(wake_owner);
  caches_.services.subscribe(wake_owner);
  caches_.budgets.subscribe(wake_owner);
  caches_.secrets.subscribe(wake_owner);
}

void ClusterController::wake(const kube::Meta& meta, rt::Priority priority) {
  auto cluster = meta.label(api::kLabelCluster);
  if (!cluster) return;
  const ClusterKey key{{meta.key.ns, std::string(*cluster)}};
  if (caches_.clusters.find(key)) queue_.add(key, priority);
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
  if (!next) log_.warn("reconcile failed", {{"cluster", key}, {"error", next.error()}});
  queue_.retry(key);
}

Task<Result<Next>> ClusterController::reconcile(ClusterKey key) {
  auto& memory = memories_[key];  // stays where it is: only this key's own reconcile erases it
  auto written = std::move(memory.written);
  memory.written.clear();
  if (auto shown = co_await caches_.wait_until_caught_up(written, runtime_.in(kCatchUp)); !shown) {
    memory.written = std::move(written);
    co_return fail(shown.error().in("wait for our own writes to show"));
  }

  auto seen = co_await observer_.observe(key, memory);
  if (!seen && seen.error() == Code::kNotFound) {
    memories_.erase(key);
    co_return Next{};
  }
  if (!seen) co_return fail(seen.error());
  auto decision = plan::decide(*seen, rules_);
  if (Executor::forget_unwanted(decision, *seen, memory)) decision = plan::decide(*seen, rules_);
  summarize(decision, memory);
  CO_TRY(const auto taken, co_await executor_.carry_out(decision, *seen, memory));
  // The intent stays, until it is known what became of the step.
  if (taken.unresolved && decision.status && seen->cluster.status)
    decision.status->intent = seen->cluster.status->intent;
  CO_TRY(co_await publisher_.publish(decision, *seen, memory));

  Next next;
  next.failed = !taken.all;
  next.after = observer_.period();
  if (decision.look_again_in) next.after = std::min(*next.after, *decision.look_again_in);
  co_return next;
}

}  // namespace quorate::op

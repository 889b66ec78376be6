#pragma once

#include <map>
#include <span>

#include "operator/executor.h"
#include "operator/histogram.h"
#include "operator/observer.h"
#include "operator/publisher.h"
#include "rt/keyed_queue.h"

namespace quorate::op {

// When to look at a cluster again without being woken.
struct Next {
  std::optional<Duration> after;  // absent: never
  bool failed = false;            // a step failed: later each time
};

// Brings every cluster one safe step nearer to its declaration, again and again. Different clusters
// side by side, one cluster never twice at once; a failure of one backs off without delaying the
// others.
class ClusterController {
 public:
  // `rules` outlive the controller.
  ClusterController(rt::Runtime runtime, Caches& caches, Observer& observer, Executor& executor,
                    Publisher& publisher, std::span<const plan::Rule> rules, Log log);

  // Subscribes to the caches. Call once, before they are filled.
  void subscribe();
  // Works until the group is cancelled, `workers` clusters at a time.
  void start(rt::TaskGroup& group, int workers);

  // Moves one cluster one step. Level-triggered: any state is a valid input.
  Task<Result<Next>> reconcile(ClusterKey key);

  struct Counters {
    std::uint64_t reconciles = 0;
    std::uint64_t failures = 0;
    std::uint64_t broken = 0;  // invariants of ours
    Histogram took;            // each reconcile, waits for members and for the API included
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] const std::map<ClusterKey, ClusterMemory>& memories() const { return memories_; }
  [[nodiscard]] rt::QueueSizes queue() const { return queue_.sizes(); }

 private:
  Task<void> work();
  Task<void> work_on(ClusterKey key);
  void wake(const kube::Meta& meta, rt::Priority priority);

  rt::Runtime runtime_;
  Caches& caches_;
  Observer& observer_;
  Executor& executor_;
  Publisher& publisher_;
  std::span<const plan::Rule> rules_;
  Log log_;
  rt::KeyedQueue<ClusterKey> queue_;
  std::map<ClusterKey, ClusterMemory> memories_;
  Counters counters_;
};

}  // namespace quorate::op

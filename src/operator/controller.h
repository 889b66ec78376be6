#pragma once

#include <map>
#include <span>

#include "operator/histogram.h"
#include "operator/scope.h"
#include "rt/keyed_queue.h"

namespace quorate::op {

// When to look at a cluster again without being woken.
struct Next {
  std::optional<Duration> after;  // absent: never
  bool failed = false;            // a step failed: later each time
  // What is to be told was held back for so long: then at the latest, also after a failure.
  std::optional<Duration> held = {};
};

// Brings every cluster one safe step nearer to its declaration, again and again. Different clusters
// side by side, one cluster never twice at once; a failure of one backs off without delaying the
// others.
class ClusterController {
 public:
  // Scopes and rules outlive the controller.
  ClusterController(rt::Runtime runtime, const Scopes& scopes, std::span<const plan::Rule> rules,
                    Log log);

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
  // Types of conditions that were met: bit i of ClusterMemory::true_conditions is the i-th.
  [[nodiscard]] const std::vector<std::string>& condition_types() const { return condition_types_; }

 private:
  Task<void> work();
  Task<void> work_on(ClusterKey key);
  void subscribe(Caches& caches);
  // Something under a name that these clusters would give to something of theirs is gone: they may
  // have waited for it, and need not back off any more.
  void wake_heirs(const Caches& caches, std::string_view kind, const ObjectKey& gone);
  void summarize(const plan::Decision& decision, const plan::Observation& seen,
                 ClusterMemory& memory);
  std::uint32_t bit_of(const std::string& condition);

  rt::Runtime runtime_;
  const Scopes& scopes_;
  std::span<const plan::Rule> rules_;
  Log log_;
  rt::KeyedQueue<ClusterKey> queue_;
  std::map<ClusterKey, ClusterMemory> memories_;
  std::vector<std::string> condition_types_;
  Counters counters_;
};

}  // namespace quorate::op

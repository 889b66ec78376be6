#pragma once

#include "kube/client.h"
#include "kube/events.h"
#include "operator/caches.h"
#include "operator/fence.h"
#include "operator/memory.h"
#include "plan/decide.h"

namespace quorate::op {

// Writes what was decided to status, and tells people in Events what changed. Writes nothing when
// nothing changed.
//
// While a cluster moves, what it waits for changes many times a second, and nobody reads that. So
// what only tells of progress is written at most once in kProgressPause, which is longer than three
// members take to form; what was gone before is never written, nor told. Whatever somebody may rely
// on is written at once (is_urgent).
class Publisher {
 public:
  static constexpr Duration kProgressPause = std::chrono::seconds(10);

  // No write takes longer than `call_timeout`, or than the lease lasts.
  Publisher(rt::Runtime runtime, kube::Client& client, Caches& caches, Fence& fence,
            kube::Recorder& events, Duration call_timeout, Log log);

  // If something was held back: how soon to look again, so that it is written.
  Task<Result<std::optional<Duration>>> publish(const plan::Decision& decision,
                                                const plan::Observation& seen,
                                                ClusterMemory& memory);

 private:
  // These say whether it was written: somebody else may have been faster.
  Task<Result<bool>> write_cluster(const api::ClusterStatus& status, const plan::Observation& seen,
                                   ClusterMemory& memory);
  Task<Result<bool>> write_member(const plan::MemberStatusUpdate& update,
                                  const plan::Observation& seen, ClusterMemory& memory);
  Task<Result<bool>> write_status(kube::Resource resource, ObjectKey key, Uid uid,
                                  ResourceVersion version, json::Value status,
                                  kube::StoreBase& store, ClusterMemory& memory);
  void announce(const api::ClusterStatus& status, const plan::Observation& seen);

  rt::Runtime runtime_;
  kube::Client& client_;
  Caches& caches_;
  Fence& fence_;
  kube::Recorder& events_;
  Duration call_timeout_;
  Log log_;
};

// Whether this may not wait behind what status says now: it is the first word, the last one
// (everything is as declared), bad news, or something that later decisions build on.
[[nodiscard]] bool is_urgent(const api::ClusterStatus& status,
                             const std::optional<api::ClusterStatus>& before);

}  // namespace quorate::op

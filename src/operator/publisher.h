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
class Publisher {
 public:
  // No write takes longer than `call_timeout`, or than the lease lasts.
  Publisher(rt::Runtime runtime, kube::Client& client, Caches& caches, Fence& fence,
            kube::Recorder& events, Duration call_timeout, Log log);

  Task<Result<void>> publish(const plan::Decision& decision, const plan::Observation& seen,
                             ClusterMemory& memory);

 private:
  Task<Result<void>> write_cluster(const api::ClusterStatus& status, const plan::Observation& seen,
                                   ClusterMemory& memory);
  Task<Result<void>> write_member(const plan::MemberStatusUpdate& update,
                                  const plan::Observation& seen, ClusterMemory& memory);
  Task<Result<void>> write_status(kube::Resource resource, ObjectKey key, Uid uid,
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

}  // namespace quorate::op

#pragma once

// Internal to the client: the calls that go on after their first answer.

#include "etcd/call.h"

namespace quorate::etcd {

Task<Result<std::unique_ptr<SnapshotStream>>> open_snapshot(Pool& pool, Target target,
                                                            rt::Deadline deadline);
Task<Result<std::unique_ptr<Watch>>> open_watch(Pool& pool, Target target, WatchRequest request,
                                                rt::Deadline deadline);
// One keep-alive of one lease; the stream is closed behind it.
Task<Result<Lease>> keep_alive_once(Pool& pool, Target target, LeaseId lease,
                                    rt::Deadline deadline);

}  // namespace quorate::etcd

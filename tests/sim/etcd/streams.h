#pragma once

// Internal to the api: the calls that go on after their first answer.

#include "tests/sim/etcd/exchange.h"

namespace quorate::etcdsim {

Task<Result<std::unique_ptr<etcd::SnapshotStream>>> open_snapshot(std::shared_ptr<Client> client,
                                                                  etcd::Target target,
                                                                  rt::Deadline deadline);
Task<Result<std::unique_ptr<etcd::Watch>>> open_watch(std::shared_ptr<Client> client,
                                                      etcd::Target target,
                                                      etcd::WatchRequest request,
                                                      rt::Deadline deadline);

}  // namespace quorate::etcdsim

#include "operator/await_newer.h"

namespace quorate::op {

Task<void> await_newer(kube::Client& client, kube::Resource resource, ObjectKey key,
                       kube::StoreBase& store, ClusterMemory& memory, rt::Deadline deadline) {
  auto there = co_await client.get(resource, key, deadline);
  if (!there) co_return;  // gone, or nobody answers: the next look shows
  const auto meta = there->meta();
  if (!meta) co_return;
  store.note_written(*meta);
  memory.written.emplace_back(&store, key);
}

}  // namespace quorate::op

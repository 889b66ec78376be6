#include "etcd/snapshot_check.h"

#include <algorithm>

namespace quorate::etcd {

void SnapshotCheck::update(std::string_view bytes) {
  size_ += static_cast<std::int64_t>(bytes.size());
  // What stays behind is the last 32 bytes of tail and new bytes together.
  std::size_t total = tail_.size() + bytes.size();
  std::size_t settled = total > pki::Sha256Stream::kSize ? total - pki::Sha256Stream::kSize : 0;
  std::size_t from_tail = std::min(settled, tail_.size());
  digest_.update(std::string_view(tail_).substr(0, from_tail));
  tail_.erase(0, from_tail);
  digest_.update(bytes.substr(0, settled - from_tail));
  tail_ += bytes.substr(settled - from_tail);
}

Result<SnapshotTrailer> SnapshotCheck::finish() {
  constexpr auto kDigest = static_cast<std::int64_t>(pki::Sha256Stream::kSize);
  if (size_ <= kDigest || size_ % 512 != kDigest)
    return fail(Code::kCorrupt, fmt::format("snapshot of {} bytes is not whole", size_));
  if (digest_.finish() != tail_)
    return fail(Code::kCorrupt,
                fmt::format("snapshot of {} bytes does not match its digest", size_));
  return SnapshotTrailer{Bytes(size_), std::move(tail_), {}};
}

}  // namespace quorate::etcd

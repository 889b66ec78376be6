#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "etcd/types.h"
#include "pki/digest.h"

namespace quorate::etcd {

// Follows the bytes of a snapshot as etcd sends them, the database and then its SHA-256, however
// they are cut into pieces, and says at the end whether they were whole.
class SnapshotCheck {
 public:
  void update(std::string_view bytes);
  // kCorrupt unless the last 32 bytes are the digest of everything before them and that is whole
  // 512-byte blocks. Once.
  Result<SnapshotTrailer> finish();

 private:
  pki::Sha256Stream digest_;
  std::string tail_;  // the last 32 bytes: they may be the digest
  std::int64_t size_ = 0;
};

}  // namespace quorate::etcd

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace quorate::datadir {

// What the log in a data directory says: whose it is, and how far it goes.
struct Log {
  std::string damage;  // why etcd cannot start on it; empty if nothing was found
  std::uint64_t cluster_id = 0;
  std::uint64_t member_id = 0;
  std::uint64_t last_term = 0;
  std::uint64_t last_index = 0;  // of the last entry, or of the snapshot if that goes further
  std::uint64_t commit = 0;      // entries up to here were committed, as it knows
  std::uint64_t snapshot = 0;    // index of the newest whole snapshot; 0 if there is none
  bool torn = false;             // the last record was cut off while it was written
  std::string tail;              // the path of the last segment
};

// Reads the last segment, of at most some 64 MiB, which repeats what the earlier ones say of the
// member, and the newest snapshot, which is small. What the log says is in the answer, damage
// included; an error means that it could not be read.
//
// Guarantees   last_index is never below what the member applied: etcd has an entry on disk before
//              it applies it, and a snapshot before it takes it over (docs/launch.md).
// Caveats      damage in earlier segments is not looked for: etcd reads them, and says so.
[[nodiscard]] Result<Log> read_log(const std::string& data_dir);

}  // namespace quorate::datadir

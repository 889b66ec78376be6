#pragma once

#include <optional>
#include <string_view>

#include "datadir/wal.h"

// etcd's `member/snap/*.snap`: where the log was cut, and the membership as of then. (The keys are
// in `member/snap/db`.)
namespace quorate::datadir {

// `%016x-%016x.snap`: term and index.
[[nodiscard]] std::optional<EntryId> parse_snapshot_name(std::string_view name);

// What the file says of itself. kCorrupt if its checksum is wrong or it is no such file: etcd puts
// it aside and takes an older one.
[[nodiscard]] Result<EntryId> read_snapshot(FileReader& file);

}  // namespace quorate::datadir

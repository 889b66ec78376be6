#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "datadir/reader.h"

// Segments of etcd's write-ahead log (3.4 to 3.7): frames of a length and a record, each with a
// CRC-32C over the data of all records up to it.
namespace quorate::datadir {

struct EntryId {
  std::uint64_t term = 0;
  std::uint64_t index = 0;
  friend bool operator==(const EntryId&, const EntryId&) = default;
};

// What one segment says, up to where it can be read.
struct Segment {
  enum class End {
    kClean,    // at the end of the file, or where nothing was written yet
    kTorn,     // in a record that was not written to its end: etcd cuts it off
    kDamaged,  // in a record that cannot be what etcd wrote: etcd does not start
  };
  End end = End::kClean;
  std::string damage;        // why
  std::uint64_t offset = 0;  // of the end

  struct Metadata {
    std::uint64_t member_id = 0;
    std::uint64_t cluster_id = 0;
    friend bool operator==(const Metadata&, const Metadata&) = default;
  };
  std::optional<Metadata> metadata;
  std::optional<std::uint64_t> commit;  // of the last hard state
  std::optional<EntryId> last_entry;    // of the last entry record: it replaces what it overlaps
  std::optional<EntryId> snapshot;      // the highest that is recorded
};

// Content never fails: it is damaged. An error means that the file could not be read.
//
// Guarantees   takes for torn what etcd takes for torn in the last segment of a log, and for whole
//              what etcd takes for whole; memory does not depend on what the file says.
// Caveats      records of a kind that is not known are passed over: their checksum is right, and a
//              newer etcd may know them.
[[nodiscard]] Result<Segment> read_segment(FileReader& file);

// Names of segments: sequence and index of the first entry, `%016x-%016x.wal`.
struct SegmentName {
  std::uint64_t sequence = 0;
  std::uint64_t index = 0;
  friend auto operator<=>(const SegmentName&, const SegmentName&) = default;
};
[[nodiscard]] std::optional<SegmentName> parse_segment_name(std::string_view name);
[[nodiscard]] std::string render_segment_name(const SegmentName& name);

}  // namespace quorate::datadir

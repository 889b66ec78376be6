#include "datadir/snapshot.h"

namespace quorate::datadir {
namespace {

using Kind = MessageReader::Kind;

Error malformed(const char* what) { return {Code::kCorrupt, what}; }

// raftpb.SnapshotMetadata
Result<EntryId> read_metadata(MessageReader metadata) {
  EntryId out;
  while (true) {
    TRY(const auto field, metadata.next());
    if (!field) return out;
    if (field->kind != Kind::kNumber) continue;
    if (field->number == 2) out.index = field->value;
    if (field->number == 3) out.term = field->value;
  }
}

// raftpb.Snapshot
Result<EntryId> read_raft_snapshot(MessageReader snapshot) {
  std::optional<EntryId> out;
  while (true) {
    TRY(const auto field, snapshot.next());
    if (!field) break;
    if (field->number != 2 || field->kind != Kind::kBytes) continue;
    TRY(out, read_metadata(snapshot.enter(*field)));
  }
  if (!out || out->index == 0) return fail(malformed("the snapshot says no index"));
  return *out;
}

}  // namespace

std::optional<EntryId> parse_snapshot_name(std::string_view name) {
  constexpr std::string_view kEnding = ".snap";
  if (!name.ends_with(kEnding)) return std::nullopt;
  name.remove_suffix(kEnding.size());
  const auto parsed = parse_segment_name(std::string(name) + ".wal");
  if (!parsed) return std::nullopt;
  return EntryId{parsed->sequence, parsed->index};
}

// snappb.Snapshot: a checksum, and what it is of.
Result<EntryId> read_snapshot(FileReader& file) {
  MessageReader outer(file, file.size());
  std::optional<std::uint64_t> stated;
  std::optional<EntryId> said;
  std::uint32_t checksum = 0;
  while (true) {
    TRY(const auto field, outer.next());
    if (!field) break;
    if (field->number == 1 && field->kind == Kind::kNumber) stated = field->value;
    if (field->number != 2 || field->kind != Kind::kBytes) continue;
    const auto end = file.position() + field->value;
    file.begin_checksum(0);
    TRY(said, read_raft_snapshot(outer.enter(*field)));
    TRY(file.skip(end - file.position()));
    checksum = file.checksum();
  }
  if (!said || !stated) return fail(malformed("the snapshot is empty"));
  if (*stated != checksum) return fail(malformed("the checksum of the snapshot is wrong"));
  return *said;
}

}  // namespace quorate::datadir

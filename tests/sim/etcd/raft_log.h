#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tests/sim/etcd/state.h"

namespace quorate::etcdsim {

struct EntryId {
  std::uint64_t term = 0;
  std::uint64_t index = 0;
  friend auto operator<=>(const EntryId&, const EntryId&) = default;  // raft's "up to date"
};

// What raft promised its peers; on disk before any message that tells of it.
struct HardState {
  std::uint64_t term = 0;
  MemberId vote;
  std::uint64_t commit = 0;
};

// The entries behind the last compaction. A value, part of a directory: everything in it is on
// disk.
class RaftLog {
 public:
  std::uint64_t first_index() const { return start_.index + 1; }
  std::uint64_t last_index() const { return start_.index + entries_.size(); }
  EntryId last() const { return {term(last_index()).value_or(0), last_index()}; }
  // Of the entry before the first, too; nothing for what is compacted or not there.
  std::optional<std::uint64_t> term(std::uint64_t index) const;
  bool matches(EntryId id) const { return term(id.index) == id.term; }
  const Entry& at(std::uint64_t index) const { return entries_.at(index - first_index()); }
  // From `from` to the end, at most `limit`.
  std::vector<Entry> slice(std::uint64_t from, std::size_t limit) const;

  void append(Entry entry) { entries_.push_back(std::move(entry)); }
  // Drops the entries from `index` on.
  void truncate(std::uint64_t index);
  // The largest index <= `index` whose term is <= `term`, and that term.
  EntryId find_conflict(std::uint64_t index, std::uint64_t term) const;

  void compact(std::uint64_t upto);
  // Everything is replaced by a snapshot that ends here.
  void restart_at(EntryId id);

 private:
  EntryId start_;  // what was compacted last
  std::vector<Entry> entries_;
};

// What a member that is too far behind gets in place of entries.
struct RaftSnapshot {
  EntryId id;
  AppliedState state;
};

}  // namespace quorate::etcdsim

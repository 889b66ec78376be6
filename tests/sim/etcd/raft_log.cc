#include "tests/sim/etcd/raft_log.h"

#include <algorithm>

#include "base/check.h"

namespace quorate::etcdsim {

std::optional<std::uint64_t> RaftLog::term(std::uint64_t index) const {
  if (index == start_.index) return start_.term;
  if (index < start_.index || index > last_index()) return std::nullopt;
  return at(index).term;
}

std::vector<Entry> RaftLog::slice(std::uint64_t from, std::size_t limit) const {
  CHECK(from >= first_index(), "entry {} is compacted", from);
  if (from > last_index()) return {};
  auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(from - first_index());
  auto left = static_cast<std::size_t>(entries_.end() - begin);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(limit, left))};
}

void RaftLog::truncate(std::uint64_t index) {
  CHECK(index >= first_index(), "entry {} is compacted", index);
  entries_.resize(index - first_index());
}

EntryId RaftLog::find_conflict(std::uint64_t index, std::uint64_t wanted) const {
  for (; index > 0; --index) {
    auto here = term(index);
    if (!here) return {0, index};
    if (*here <= wanted) return {*here, index};
  }
  return {0, 0};
}

void RaftLog::compact(std::uint64_t upto) {
  if (upto < first_index()) return;
  const EntryId start{*term(upto), upto};
  entries_.erase(entries_.begin(),
                 entries_.begin() + static_cast<std::ptrdiff_t>(upto - start_.index));
  start_ = start;
}

void RaftLog::restart_at(EntryId id) {
  start_ = id;
  entries_.clear();
}

}  // namespace quorate::etcdsim

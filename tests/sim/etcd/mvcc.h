#pragma once

#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "etcd/errors.h"
#include "etcd/types.h"

namespace quorate::etcdsim {

// What etcd answers, or why it refuses. Which Code that is depends on the call (etcd::refusal).
template <class T>
using Outcome = tl::expected<T, etcd::Reason>;
using Refused = tl::unexpected<etcd::Reason>;

// The keys and values of one member, with their history. A value: copied with the directory that it
// stands in, and equal on all members that applied the same entries.
//
// Headers of answers are left to the caller.
class Store {
 public:
  Revision revision() const { return Revision(revision_); }
  Revision compacted() const { return Revision(compacted_); }

  Outcome<etcd::RangeAnswer> range(const etcd::RangeRequest& request) const;
  // Hash of everything up to `revision`, 0 = the newest: equal for equal data and equal compaction.
  Outcome<std::uint32_t> hash(Revision revision) const;
  std::optional<etcd::Reason> compact(Revision revision);
  // The events of the revisions from `from` on that touch the range, one batch a revision.
  std::vector<etcd::WatchBatch> events(const etcd::KeyRange& range, Revision from,
                                       bool with_previous) const;

  // All writes of one entry: they get one revision, or none if nothing was written.
  class Writer {
   public:
    explicit Writer(Store& store) : store_(store) {}
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    etcd::PutAnswer put(const etcd::PutRequest& request);
    etcd::DeleteAnswer delete_range(const etcd::DeleteRequest& request);

   private:
    std::int64_t next() const { return store_.revision_ + 1; }
    Store& store_;
    bool wrote_ = false;
  };
  bool holds(const etcd::Compare& compare) const;
  const etcd::KeyValue* find(const std::string& key) const;
  std::vector<etcd::KeyValue> newest() const;

  // Bytes that the history needs.
  std::int64_t size() const { return size_; }
  std::size_t keys() const { return keys_.size(); }

  // As the database file was before the last writes reached it.
  void forget_after(Revision revision);
  // As a bit that flips on the disk leaves it: the newest value of the first key is another one.
  // False if there is none.
  bool tamper();
  // As a restore that bumps revisions leaves it.
  void bump(std::int64_t by, bool mark_compacted);

  std::string encode() const;
  static std::optional<Store> decode(std::string_view bytes);

 private:
  struct Item {
    etcd::KeyValue kv;  // of a deletion: key and mod_revision alone
    bool deleted = false;
  };
  using History = std::vector<Item>;  // oldest first

  static const Item* at(const History& history, std::int64_t revision);
  static std::int64_t size_of(const Item& item);
  void record(Item item);
  void rebuild();

  std::map<std::string, History, std::less<>> keys_;
  std::map<std::int64_t, std::vector<std::string>> changes_;  // revision -> keys it touched
  std::int64_t revision_ = 1;
  std::int64_t compacted_ = -1;  // never
  std::int64_t size_ = 0;
};

}  // namespace quorate::etcdsim

#include "tests/sim/etcd/mvcc.h"

#include <algorithm>

#include "base/check.h"
#include "tests/sim/etcd/bytes.h"

namespace quorate::etcdsim {
namespace {

constexpr std::int64_t kOverheadOfItem = 100;  // revisions, lease, the page's own

// Whether an end of "\0" (all that follows) or any other takes the key in.
bool within(const etcd::KeyRange& range, std::string_view key) {
  if (range.end.empty()) return key == range.key;
  const bool open = range.end == std::string_view("\0", 1);
  return key >= range.key && (open || key < range.end);
}

class Fnv {
 public:
  void add(std::string_view bytes) {
    for (char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    add(bytes.size());
  }
  void add(std::uint64_t number) { hash_ = (hash_ ^ number) * 0x100000001b3ULL; }
  std::uint32_t value() const { return static_cast<std::uint32_t>(hash_ ^ hash_ >> 32); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

template <class T>
bool related(const T& a, etcd::Compare::Relation relation, const T& b) {
  switch (relation) {
    case etcd::Compare::Relation::kEqual:
      return a == b;
    case etcd::Compare::Relation::kGreater:
      return a > b;
    case etcd::Compare::Relation::kLess:
      return a < b;
    case etcd::Compare::Relation::kNotEqual:
      return a != b;
  }
  return false;
}

}  // namespace

const Store::Item* Store::at(const History& history, std::int64_t revision) {
  auto after = std::ranges::upper_bound(
      history, revision, {}, [](const Item& item) { return item.kv.mod_revision.value(); });
  if (after == history.begin()) return nullptr;
  const Item& item = *std::prev(after);
  return item.deleted ? nullptr : &item;
}

std::int64_t Store::size_of(const Item& item) {
  return static_cast<std::int64_t>(item.kv.key.size() + item.kv.value.size()) + kOverheadOfItem;
}

const etcd::KeyValue* Store::find(const std::string& key) const {
  auto found = keys_.find(key);
  if (found == keys_.end()) return nullptr;
  const Item* item = at(found->second, revision_);
  return item ? &item->kv : nullptr;
}

std::vector<etcd::KeyValue> Store::newest() const {
  std::vector<etcd::KeyValue> all;
  for (const auto& [key, history] : keys_)
    if (const Item* item = at(history, revision_)) all.push_back(item->kv);
  return all;
}

Outcome<etcd::RangeAnswer> Store::range(const etcd::RangeRequest& request) const {
  std::int64_t revision = request.revision.value();
  if (revision > revision_) return Refused(etcd::Reason::kFutureRevision);
  if (revision <= 0) revision = revision_;
  if (revision < compacted_) return Refused(etcd::Reason::kCompacted);
  etcd::RangeAnswer answer;
  for (auto it = keys_.lower_bound(request.range.key);
       it != keys_.end() && within(request.range, it->first); ++it) {
    const Item* item = at(it->second, revision);
    if (!item) continue;
    ++answer.count;
    if (request.count_only) continue;
    if (request.limit > 0 && answer.count > request.limit) {
      answer.more = true;
      continue;
    }
    answer.kvs.push_back(item->kv);
    if (request.keys_only) answer.kvs.back().value.clear();
  }
  return answer;
}

Outcome<std::uint32_t> Store::hash(Revision revision) const {
  std::int64_t upto = revision.value() == 0 ? revision_ : revision.value();
  if (upto > revision_) return Refused(etcd::Reason::kFutureRevision);
  if (upto < compacted_) return Refused(etcd::Reason::kCompacted);
  Fnv hash;
  for (const auto& [key, history] : keys_) {
    for (const Item& item : history) {
      if (item.kv.mod_revision.value() > upto) break;
      hash.add(key);
      hash.add(item.kv.value);
      hash.add(static_cast<std::uint64_t>(item.kv.mod_revision.value()));
      hash.add(item.deleted ? 1u : 0u);
    }
  }
  return hash.value();
}

bool Store::tamper() {
  for (auto& [key, history] : keys_)
    if (auto& newest = history.back(); !newest.deleted && !newest.kv.value.empty()) {
      newest.kv.value.front() = static_cast<char>(newest.kv.value.front() ^ 1);
      return true;
    }
  return false;
}

std::optional<etcd::Reason> Store::compact(Revision revision) {
  if (revision.value() <= compacted_) return etcd::Reason::kCompacted;
  if (revision.value() > revision_) return etcd::Reason::kFutureRevision;
  compacted_ = revision.value();
  for (auto it = keys_.begin(); it != keys_.end();) {
    History& history = it->second;
    auto after = std::ranges::upper_bound(
        history, compacted_, {}, [](const Item& item) { return item.kv.mod_revision.value(); });
    // What was newest at the compaction stays, unless it was a deletion.
    if (after != history.begin() && !std::prev(after)->deleted) --after;
    for (auto gone = history.begin(); gone != after; ++gone) size_ -= size_of(*gone);
    history.erase(history.begin(), after);
    it = history.empty() ? keys_.erase(it) : std::next(it);
  }
  changes_.erase(changes_.begin(), changes_.lower_bound(compacted_));
  return std::nullopt;
}

std::vector<etcd::WatchBatch> Store::events(const etcd::KeyRange& range, Revision from,
                                            bool with_previous) const {
  std::vector<etcd::WatchBatch> batches;
  for (auto it = changes_.lower_bound(from.value()); it != changes_.end(); ++it) {
    etcd::WatchBatch batch;
    for (const auto& key : it->second) {
      if (!within(range, key)) continue;
      auto found = keys_.find(key);
      if (found == keys_.end()) continue;
      auto item = std::ranges::find(found->second, Revision(it->first),
                                    [](const Item& i) { return i.kv.mod_revision; });
      if (item == found->second.end()) continue;
      etcd::Event event;
      event.kind = item->deleted ? etcd::Event::Kind::kDelete : etcd::Event::Kind::kPut;
      event.kv = item->kv;
      if (with_previous)
        if (const Item* previous = at(found->second, it->first - 1)) event.previous = previous->kv;
      batch.events.push_back(std::move(event));
    }
    if (batch.events.empty()) continue;
    batch.header.revision = Revision(it->first);
    batches.push_back(std::move(batch));
  }
  return batches;
}

void Store::record(Item item) {
  size_ += size_of(item);
  auto& touched = changes_[item.kv.mod_revision.value()];
  if (std::ranges::find(touched, item.kv.key) == touched.end()) touched.push_back(item.kv.key);
  History& history = keys_[item.kv.key];
  // A transaction that writes a key twice leaves one item of its revision.
  if (!history.empty() && history.back().kv.mod_revision == item.kv.mod_revision) {
    size_ -= size_of(history.back());
    history.pop_back();
  }
  history.push_back(std::move(item));
}

Store::Writer::~Writer() {
  if (wrote_) ++store_.revision_;
}

etcd::PutAnswer Store::Writer::put(const etcd::PutRequest& request) {
  etcd::PutAnswer answer;
  Item item;
  item.kv = {request.key, request.value, Revision(next()), Revision(next()), 1, request.lease};
  if (const Item* known = [&]() -> const Item* {
        auto found = store_.keys_.find(request.key);
        return found == store_.keys_.end() ? nullptr : at(found->second, next());
      }()) {
    item.kv.create_revision = known->kv.create_revision;
    item.kv.version = known->kv.version + 1;
    if (request.want_previous) answer.previous = known->kv;
  }
  store_.record(std::move(item));
  wrote_ = true;
  return answer;
}

etcd::DeleteAnswer Store::Writer::delete_range(const etcd::DeleteRequest& request) {
  etcd::DeleteAnswer answer;
  std::vector<Item> gone;
  for (auto it = store_.keys_.lower_bound(request.range.key);
       it != store_.keys_.end() && within(request.range, it->first); ++it) {
    const Item* item = at(it->second, next());
    if (!item) continue;
    ++answer.deleted;
    if (request.want_previous) answer.previous.push_back(item->kv);
    Item tombstone;
    tombstone.kv.key = it->first;
    tombstone.kv.mod_revision = Revision(next());
    tombstone.deleted = true;
    gone.push_back(std::move(tombstone));
  }
  for (Item& item : gone) store_.record(std::move(item));
  wrote_ = wrote_ || !gone.empty();
  return answer;
}

bool Store::holds(const etcd::Compare& compare) const {
  static const etcd::KeyValue kAbsent;
  const etcd::KeyValue* kv = find(compare.key);
  // The value of an absent key compares to nothing.
  if (!kv && compare.target == etcd::Compare::Target::kValue) return false;
  if (!kv) kv = &kAbsent;
  switch (compare.target) {
    case etcd::Compare::Target::kVersion:
      return related(kv->version, compare.relation, compare.number);
    case etcd::Compare::Target::kCreateRevision:
      return related(kv->create_revision.value(), compare.relation, compare.number);
    case etcd::Compare::Target::kModRevision:
      return related(kv->mod_revision.value(), compare.relation, compare.number);
    case etcd::Compare::Target::kLease:
      return related(static_cast<std::int64_t>(kv->lease.value()), compare.relation,
                     compare.number);
    case etcd::Compare::Target::kValue:
      return related(kv->value, compare.relation, compare.value);
  }
  return false;
}

void Store::rebuild() {
  changes_.clear();
  size_ = 0;
  std::erase_if(keys_, [](const auto& entry) { return entry.second.empty(); });
  for (const auto& [key, history] : keys_) {
    for (const Item& item : history) {
      changes_[item.kv.mod_revision.value()].push_back(key);
      size_ += size_of(item);
    }
  }
}

void Store::forget_after(Revision revision) {
  if (revision.value() >= revision_) return;
  for (auto& [key, history] : keys_)
    std::erase_if(history, [&](const Item& item) { return item.kv.mod_revision > revision; });
  revision_ = std::max<std::int64_t>(1, revision.value());
  rebuild();
}

void Store::bump(std::int64_t by, bool mark_compacted) {
  revision_ += by;
  if (mark_compacted) compacted_ = revision_;
}

std::string Store::encode() const {
  ByteWriter out;
  out.number(static_cast<std::uint64_t>(revision_));
  out.number(static_cast<std::uint64_t>(compacted_));
  out.number(keys_.size());
  for (const auto& [key, history] : keys_) {
    out.text(key);
    out.number(history.size());
    for (const Item& item : history) {
      out.text(item.kv.value);
      out.number(static_cast<std::uint64_t>(item.kv.create_revision.value()));
      out.number(static_cast<std::uint64_t>(item.kv.mod_revision.value()));
      out.number(static_cast<std::uint64_t>(item.kv.version));
      out.number(item.kv.lease.value());
      out.number(item.deleted ? 1 : 0);
    }
  }
  return std::move(out).finish();
}

std::optional<Store> Store::decode(std::string_view bytes) {
  ByteReader in(bytes);
  Store store;
  store.revision_ = static_cast<std::int64_t>(in.number());
  store.compacted_ = static_cast<std::int64_t>(in.number());
  for (std::uint64_t left = in.number(); left > 0 && in.good(); --left) {
    std::string key = in.text();
    for (std::uint64_t items = in.number(); items > 0 && in.good(); --items) {
      Item item;
      item.kv.key = key;
      item.kv.value = in.text();
      item.kv.create_revision = Revision(static_cast<std::int64_t>(in.number()));
      item.kv.mod_revision = Revision(static_cast<std::int64_t>(in.number()));
      item.kv.version = static_cast<std::int64_t>(in.number());
      item.kv.lease = etcd::LeaseId(in.number());
      item.deleted = in.number() != 0;
      store.keys_[key].push_back(std::move(item));
    }
  }
  if (!in.good()) return std::nullopt;
  store.rebuild();
  return store;
}

}  // namespace quorate::etcdsim

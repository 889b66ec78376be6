#include "kube/store.h"

namespace quorate::kube {
namespace {

constexpr std::size_t kWrittenBeforeSweep = 256;
constexpr int kRemovalsBeforeSweep = 1024;

std::size_t mix(std::size_t seed, std::string_view text) {
  return seed * 1099511628211ULL + std::hash<std::string_view>()(text);
}

std::size_t hash_of(const json::Labels& labels) {
  std::size_t seed = labels.size();
  for (const auto& [name, value] : labels) seed = mix(mix(seed, name), value);
  return seed;
}

std::size_t hash_of(const std::vector<OwnerReference>& owners) {
  std::size_t seed = owners.size();
  for (const auto& owner : owners) seed = mix(seed, owner.uid.value());
  return seed;
}

// Equal values, kept once.
template <class T>
class SharedSet {
 public:
  void share(std::shared_ptr<const T>& value) {
    if (value) value = *values_.insert(value).first;
  }
  void forget_unused() {
    erase_if(values_, [](const std::shared_ptr<const T>& value) { return value.use_count() == 1; });
  }

 private:
  struct Hash {
    std::size_t operator()(const std::shared_ptr<const T>& value) const { return hash_of(*value); }
  };
  struct Equal {
    bool operator()(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) const {
      return *a == *b;
    }
  };
  boost::unordered_flat_set<std::shared_ptr<const T>, Hash, Equal> values_;
};

}  // namespace

struct StoreBase::Pool {
  SharedSet<json::Labels> labels;
  SharedSet<std::vector<OwnerReference>> owners;
  int removals = 0;
};

StoreBase::StoreBase(rt::Runtime runtime, StoreOptions options)
    : options_(std::move(options)), changed_(runtime), pool_(std::make_unique<Pool>()) {}

StoreBase::~StoreBase() = default;

Task<Result<void>> StoreBase::wait_until_synced(rt::Deadline deadline) {
  while (!synced_) CO_TRY(co_await changed_.wait(deadline));
  co_return Result<void>();
}

void StoreBase::note_written(const Meta& written) {
  sweep_written();
  auto& entry = written_[written.key];
  entry.version = written.resource_version;
  entry.removed = Uid();
  entry.lists_begun = lists_begun_;
}

void StoreBase::note_removed(const ObjectKey& key, const Uid& uid) {
  sweep_written();
  auto& entry = written_[key];  // a version noted before still has to be reached
  entry.removed = uid;
  entry.lists_begun = lists_begun_;
}

bool StoreBase::reached(const ObjectKey& key, const Written& written) const {
  if (list_done_ > written.lists_begun) return true;
  const auto known = find_head(key);
  if (!written.version.value().empty()) {
    const bool this_very_one = known && known->resource_version == written.version;
    const bool passed = position_ == written.version || certainly_older(written.version, position_);
    if (!this_very_one && !passed) return false;
  }
  return written.removed.value().empty() || !known || known->uid != written.removed;
}

bool StoreBase::caught_up(const ObjectKey& key) {
  auto found = written_.find(key);
  if (found == written_.end()) return true;
  if (!reached(key, found->second)) return false;
  written_.erase(found);
  return true;
}

Task<Result<void>> StoreBase::wait_until_caught_up(ObjectKey key, rt::Deadline deadline) {
  while (!caught_up(key)) CO_TRY(co_await changed_.wait(deadline));
  co_return Result<void>();
}

void StoreBase::sweep_written() {
  if (written_.size() < kWrittenBeforeSweep) return;
  std::erase_if(written_, [&](const auto& entry) { return reached(entry.first, entry.second); });
}

void StoreBase::on_position(const ResourceVersion& position) { moved(position); }

void StoreBase::begin_list() { ++lists_begun_; }

void StoreBase::end_list(const ResourceVersion& position) {
  list_done_ = lists_begun_;
  synced_ = true;
  moved(position);
}

void StoreBase::moved(const ResourceVersion& position) {
  if (!position.value().empty()) position_ = position;
  changed_.notify();
}

void StoreBase::share(Meta& meta) {
  pool_->labels.share(meta.label_set);
  pool_->owners.share(meta.owner_set);
}

void StoreBase::forget_unused() {
  pool_->removals = 0;
  pool_->labels.forget_unused();
  pool_->owners.forget_unused();
}

void StoreBase::forget_unused_sometimes() {
  if (++pool_->removals >= kRemovalsBeforeSweep) forget_unused();
}

Result<Head> StoreBase::decode_head(json::PaddedView text) {
  TRY(auto view, json::project<MetaView>(meta_projector_, text));
  if (view.meta.key.name.empty()) return fail(Code::kCorrupt, "an object without a name");
  return Head(std::move(view.meta));
}

void StoreBase::report_unreadable(const ObjectKey& key, const Error& error) {
  options_.log.error("an object cannot be read", {{"object", key}, {"error", error}});
}

std::uint64_t StoreBase::index_key(std::string_view name, std::string_view value) {
  return mix(mix(0, name), value);
}

}  // namespace quorate::kube

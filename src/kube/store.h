#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "kube/object.h"
#include "kube/packed.h"
#include "kube/watcher.h"
#include "rt/signal.h"

namespace quorate::kube {

// A small struct of the fields that we use of a kind of object: it has a Head or Meta `meta` and a
// read(json::Reader&, T&) found by argument-dependent lookup. If it is Packable, it sleeps: a Store
// keeps it as one block of memory and unpacks it for whoever asks.
template <class T>
concept Projection = requires(json::Reader& in, T& out, const T& object) {
  read(in, out);
  { object.meta } -> std::convertible_to<const Head&>;
};

// An object of a store as it was when it was asked for; nullptr: it was not there. It stays good
// for as long as somebody holds it.
template <class T>
using Handle = std::shared_ptr<const T>;

// Pointers to the same objects, good for as long as the handles.
template <class T>
[[nodiscard]] std::vector<const T*> borrow(const std::vector<Handle<T>>& handles) {
  std::vector<const T*> out;
  for (const auto& handle : handles) out.push_back(handle.get());
  return out;
}

// What an object bears under a label. Projections without a Meta that are found by labels have a
// find_label of their own, for those that they keep.
template <class T>
  requires std::is_same_v<decltype(T::meta), Meta>
[[nodiscard]] std::optional<std::string_view> find_label(const T& object, std::string_view name) {
  return object.meta.label(name);
}

template <class T>
concept HasLabels = requires(const T& object) { find_label(object, std::string_view()); };

struct StoreOptions {
  std::vector<std::string> indexed_labels;  // find by these is quick
  Log log;
};

// What is shared by stores of all kinds: sync state, positions, own writes, equal labels kept once.
class StoreBase : public WatchSink {
 public:
  // False until the first list is complete: decide nothing before.
  [[nodiscard]] bool synced() const { return synced_; }
  Task<Result<void>> wait_until_synced(rt::Deadline deadline);

  // --- our own writes
  // A reconcile that has written must not decide on a view from before its own write:
  //
  //   CO_TRY(auto made, co_await client.create(...));    store.note_written(*made.meta());
  //   ... later, first thing:  CO_TRY(co_await store.wait_until_caught_up(key, deadline));
  //
  // Caught up means: this very version was seen for the key; or, versions being numbers, the watch
  // has reached or passed it; or a list that began after the write is complete. Where none of them
  // can be said the wait ends with kTimeout, and only a live read tells.
  void note_written(const Meta& written);
  // Our delete of this object was accepted: caught up once the key is without it.
  void note_removed(const ObjectKey& key, const Uid& uid);
  [[nodiscard]] bool caught_up(const ObjectKey& key);
  Task<Result<void>> wait_until_caught_up(ObjectKey key, rt::Deadline deadline);

  // Objects that are there but could not be read as the projection, with the reason. `find` does
  // not give them; who takes absence for a fact must look here.
  [[nodiscard]] const std::map<ObjectKey, Error>& unreadable() const { return unreadable_; }

  void on_position(const ResourceVersion& position) override;

 protected:
  StoreBase(rt::Runtime runtime, StoreOptions options);
  ~StoreBase() override;

  struct Written {
    ResourceVersion version;        // to be seen or passed; empty: none
    Uid removed;                    // to be gone; empty: none
    std::uint64_t lists_begun = 0;  // when it was noted
  };
  [[nodiscard]] virtual std::optional<Head> find_head(const ObjectKey& key) const = 0;
  [[nodiscard]] bool reached(const ObjectKey& key, const Written& written) const;
  void share(Meta& meta);  // replaces equal labels and owners by one copy
  void forget_unused();    // drops labels and owners that nobody has any more
  void forget_unused_sometimes();
  Result<Head> decode_head(json::PaddedView text);
  void report_unreadable(const ObjectKey& key, const Error& error);
  // Where an index has the objects with this value; others may stand there, too.
  static std::uint64_t index_key(std::string_view name, std::string_view value);
  void sweep_written();
  void begin_list();
  void end_list(const ResourceVersion& position);
  void moved(const ResourceVersion& position);

  StoreOptions options_;
  std::map<ObjectKey, Error> unreadable_;

 private:
  struct Pool;
  rt::Signal changed_;
  bool synced_ = false;
  ResourceVersion position_;
  std::uint64_t lists_begun_ = 0;
  std::uint64_t list_done_ = 0;  // number of the last list that completed
  std::map<ObjectKey, Written> written_;
  std::unique_ptr<Pool> pool_;
  json::Projector meta_projector_;
};

// The objects of one resource as projections, as fresh as the watch. Filled by a Watcher.
//
// One thread. A relist is collected beside the old content and swapped in at once: readers never
// see half of it. Objects whose version did not change are kept as they are.
template <Projection T>
class Store : public StoreBase {
 public:
  // Both are valid during the call.
  struct Change {
    const ObjectKey& key;
    const T* before;  // nullptr: it is new
    const T* after;   // nullptr: it is gone
  };
  using Subscriber = std::function<void(const Change&)>;

  explicit Store(rt::Runtime runtime, StoreOptions options = {})
      : StoreBase(runtime, std::move(options)) {}

  [[nodiscard]] Handle<T> find(const ObjectKey& key) const;
  [[nodiscard]] bool contains(const ObjectKey& key) const {
    return objects_.contains(KeyView(key));
  }
  [[nodiscard]] std::size_t size() const { return objects_.size(); }
  // All, sorted by key; so are the next three.
  [[nodiscard]] std::vector<Handle<T>> all() const;
  [[nodiscard]] std::vector<Handle<T>> in_namespace(std::string_view ns) const;
  // Those with an owner of that UID, controller or not.
  [[nodiscard]] std::vector<Handle<T>> owned_by(const Uid& owner) const
    requires std::is_same_v<decltype(T::meta), Meta>;
  // Those with that label; it must be one of the indexed ones.
  [[nodiscard]] std::vector<Handle<T>> labelled(std::string_view name, std::string_view value) const
    requires HasLabels<T>;
  // Each as a const T&, valid during the call; in no particular order, one at a time.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& slot : objects_) visit(*wake(slot));
  }

  // `subscriber` is called for every object that is added, replaced or removed, after the store has
  // changed (a relist: after the swap), within the watcher's step. It may read the store, not
  // change the set of subscribers. Subscribers live as long as the store.
  void subscribe(Subscriber subscriber) { subscribers_.push_back(std::move(subscriber)); }

  void on_init() override;
  Result<void> on_init_apply(json::PaddedView object) override;
  void on_init_done(const ResourceVersion& position) override;
  Result<void> on_apply(json::PaddedView object) override;
  Result<void> on_delete(json::PaddedView object) override;

 private:
  static constexpr bool kSleeps = Packable<T>;
  static constexpr bool kHasOwners = std::is_same_v<decltype(T::meta), Meta>;
  using Slot = std::conditional_t<kSleeps, Packed, Handle<T>>;
  using Ref = std::conditional_t<kSleeps, const char*, const T*>;  // what a Slot points to: stays
  static KeyView key_of(const char* block) { return Packed::key_of(block); }
  static KeyView key_of(const T* object) { return object->meta.key; }
  static KeyView key_of(const Slot& slot) { return key_of(slot.get()); }
  static KeyView key_of(const KeyView& key) { return key; }
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const auto& of) const {
      const KeyView key = key_of(of);
      return std::hash<std::string_view>()(key.ns) * 31 + std::hash<std::string_view>()(key.name);
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return key_of(a) == key_of(b); }
  };
  using Objects = boost::unordered_flat_set<Slot, Hash, Equal>;
  using Index = boost::unordered_flat_map<std::uint64_t, std::vector<Ref>>;
  struct Decoded {
    Head head;
    std::shared_ptr<T> object;   // nullptr: unreadable
    std::optional<Error> error;  // why
  };
  struct Replaced {
    Ref before;
    Ref after;
    KeyView key() const { return key_of(after ? after : before); }
  };

  std::optional<Head> find_head(const ObjectKey& key) const override;
  Result<Decoded> decode(json::PaddedView text);
  Slot put_to_rest(const std::shared_ptr<T>& object);
  static Handle<T> wake(const Slot& slot);
  static Handle<T> look_at(Ref ref);
  static Slot take(Objects& objects, KeyView key);
  // Takes the object out of the store; the Slot is empty if it was not there.
  Slot remove(const ObjectKey& key);
  std::vector<Replaced> swap_in_collected(Objects& before);
  void add_to_indexes(const T& object, Ref ref);
  void remove_from_indexes(const T& object, Ref ref);
  template <class Visit>
  void for_each_index_key(const T& object, Visit visit);
  template <class Matches>
  std::vector<Handle<T>> indexed(const Index& index, std::uint64_t key, Matches matches) const;
  static std::vector<Handle<T>> sorted(std::vector<Handle<T>> found);
  void notify(const ObjectKey& key, const T* before, const T* after);

  json::Projector projector_;
  Packer packer_;
  Objects objects_;
  Index by_owner_;
  Index by_label_;
  bool collecting_ = false;
  Objects collected_;                                // new or changed objects of the list under way
  boost::unordered_flat_set<Ref> kept_;              // those of the list that did not change
  std::map<ObjectKey, Error> collected_unreadable_;  // likewise
  std::vector<Subscriber> subscribers_;
};

}  // namespace quorate::kube

#include "kube/store_inl.h"

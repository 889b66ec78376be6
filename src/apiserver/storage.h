#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/journal.h"
#include "apiserver/registry.h"
#include "base/ids.h"
#include "json/document.h"
#include "json/function_ref.h"
#include "json/selector.h"
#include "rt/signal.h"

namespace quorate::apiserver {

// An object, decoded. Shared by all who look at it, so whoever wants to change it takes a copy.
using Decoded = std::shared_ptr<const json::Value>;

// What was decoded lately: a change is looked at by many, one after the other, and all of them find
// the same document. What is older is decoded again, so that memory holds bytes.
class Recent {
 public:
  void keep(Decoded decoded) { kept_[next_++ % kept_.size()] = std::move(decoded); }

 private:
  std::array<Decoded, 256> kept_;
  std::size_t next_ = 0;
};

// One version of one object. Never changed: shared by what stands now, by the history, and by
// streams that have yet to say it.
struct Record {
  std::int64_t version = 0;  // its resourceVersion
  std::string text;          // the object as compact JSON, resourceVersion included
  std::string index;         // labels and selectable fields, packed (selection.cc)

  [[nodiscard]] Decoded decoded() const;
  [[nodiscard]] json::Value value() const { return *decoded(); }  // a copy

  std::shared_ptr<Recent> recent = {};  // nullptr: decoded anew every time
  mutable std::weak_ptr<const json::Value> last = {};
};
using RecordPtr = std::shared_ptr<const Record>;

// One change of one object.
struct Event {
  enum class Type { kAdded, kModified, kDeleted };
  Type type = Type::kAdded;
  const Kind* kind = nullptr;  // as stored: never one with `stored_as`
  ObjectKey key;               // ns is empty if the kind has no namespaces
  RecordPtr before;            // nullptr if added
  RecordPtr now;               // if deleted: the last state, with the version of the deletion
  [[nodiscard]] std::int64_t version() const { return now->version; }
};

// By the text `namespace/name`, as etcd orders what Kubernetes keeps in it: "a-b/x" before "a/x".
struct KeyOrder {
  bool operator()(const ObjectKey& a, const ObjectKey& b) const;
};

// Objects as bytes, each under one of an increasing row of versions, and the latest changes, so
// that a stream can go on where another one broke off. No rules of Kubernetes beyond that: see
// verbs.h for those.
//
// Everything is ordered, so equal histories give equal answers. One
// thread; a write is written down (if there is a journal), wakes those who wait and calls the
// listeners before it returns.
class Storage {
 public:
  // Keeps at least the latest `history` changes.
  Storage(rt::Runtime runtime, std::size_t history);
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // --- reads. Kinds are looked at as stored: views of other kinds read those.
  [[nodiscard]] std::int64_t version() const { return version_; }  // of the latest change
  // The oldest version that changes can be told since; what was before is forgotten.
  [[nodiscard]] std::int64_t oldest() const { return oldest_; }
  [[nodiscard]] RecordPtr find(const Kind& kind, const ObjectKey& key) const;
  using Objects = std::map<ObjectKey, RecordPtr, KeyOrder>;
  // Everything of a kind, as it stands now.
  [[nodiscard]] const Objects& objects(const Kind& kind) const;
  // As it stood at a version; nothing if that is forgotten. Not for versions to come.
  [[nodiscard]] std::optional<Objects> objects_at(const Kind& kind, std::int64_t version) const;
  // The first change of the kind after `version`, or nullptr: none yet. Valid until the next write.
  // Only for versions from oldest() on.
  [[nodiscard]] const Event* next_event(const Kind& kind, std::int64_t version) const;
  // Notified at every change of the kind, and at compaction.
  rt::Signal& changed(const Kind& kind);

  // --- writes. The document's metadata.resourceVersion is set; the outcome is the new record.
  RecordPtr create(const Kind& kind, const ObjectKey& key, json::Value object);
  RecordPtr update(const Kind& kind, const ObjectKey& key, json::Value object);
  RecordPtr remove(const Kind& kind, const ObjectKey& key);

  // Forgets all changes up to the version, as etcd's compaction does.
  void compact(std::int64_t version);

  // --- keeping. From now on every change is written down first; nullptr: none.
  void keep_in(Journal* journal) { journal_ = journal; }
  // One object as its text was kept, resourceVersion included.
  struct Kept {
    const Kind* kind = nullptr;
    ObjectKey key;
    std::int64_t version = 0;
    json::Value object;
  };
  // Takes the place of all that is here, before anybody watches; listeners are told of each object
  // as of a new one. Versions go on after `version`, and what was before it is forgotten. Nothing
  // is written down.
  void restore(std::vector<Kept> objects, std::int64_t version);

  // --- listeners: told of every change, in order, inside of the write. A listener must not write;
  // it notes what to look at, and wakes whoever does. It goes when its handle goes.
  using OnEvent = std::function<void(const Event&)>;
  class Listener;
  [[nodiscard]] std::shared_ptr<Listener> listen(OnEvent on_event);

 private:
  struct Shelf {  // one kind
    Objects objects;
    std::deque<Event> history;
    std::unique_ptr<rt::Signal> changed;
  };
  Shelf& shelf(const Kind& kind);
  const Shelf* find_shelf(const Kind& kind) const;
  RecordPtr make_record(const Kind& kind, json::Value object);
  RecordPtr make_record(const Kind& kind, json::Value object, std::int64_t version);
  void write_down(const Event& event);
  void publish(Event event);
  void tell_listeners(const Event& event);
  void forget_first();

  rt::Runtime runtime_;
  std::size_t history_;
  std::int64_t version_ = 1;
  std::int64_t oldest_ = 1;
  Journal* journal_ = nullptr;
  std::vector<std::unique_ptr<Shelf>> shelves_;  // by the kind's id
  std::deque<std::size_t> order_;  // ids of the kinds of all events kept, oldest first
  std::vector<std::weak_ptr<Listener>> listeners_;
  int telling_ = 0;  // deep
  std::shared_ptr<Recent> recent_ = std::make_shared<Recent>();
};

class Storage::Listener {
 public:
  explicit Listener(OnEvent on_event) : on_event_(std::move(on_event)) {}

 private:
  friend class Storage;
  OnEvent on_event_;
};

}  // namespace quorate::apiserver

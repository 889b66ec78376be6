#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "apiserver/storage.h"
#include "apiserver/verbs.h"
#include "json/document.h"
#include "rt/clock.h"
#include "rt/signal.h"

namespace quorate::apiserver {

// One object that a controller may have to do something about.
struct WorkKey {
  const Kind* kind = nullptr;
  ObjectKey key;
  friend bool operator<(const WorkKey& a, const WorkKey& b) {
    return std::tie(a.kind->id, a.key) < std::tie(b.kind->id, b.key);
  }
  friend bool operator==(const WorkKey&, const WorkKey&) = default;
};

// A change as controllers see it, read only where somebody asks.
class Change {
 public:
  explicit Change(const Event& event) : event_(event) {}
  [[nodiscard]] const Kind& kind() const { return *event_.kind; }
  [[nodiscard]] const ObjectKey& key() const { return event_.key; }
  [[nodiscard]] bool deleted() const { return event_.type == Event::Type::kDeleted; }
  [[nodiscard]] WorkKey work() const { return {event_.kind, event_.key}; }
  // The text of the object, for a quick look.
  [[nodiscard]] const std::string& text() const { return event_.now->text; }
  // The object as it is now, or as it was last.
  [[nodiscard]] const json::Value& object() const;
  // What it was before; null if it is new.
  [[nodiscard]] const json::Value& before() const;

 private:
  const Event& event_;
  mutable Decoded now_, before_;
};

// A controller that is built into Kubernetes: it notes which objects a change may concern, and
// looks at each of them later, one by one, in the order of their keys. It writes through the same
// verbs as everybody, in one go without a wait between reading and writing, so it meets no
// conflicts. Level-triggered: nothing is kept in memory that is not in the objects.
class Controller {
 public:
  Controller(rt::Runtime runtime, Verbs& verbs, std::string name);
  virtual ~Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Looks at everything, then at what changes, until cancelled.
  Task<void> run();
  const std::string& name() const { return name_; }

 protected:
  // Called inside of writes: marks, and writes nothing.
  virtual void note(const Change& change) = 0;
  // Does what is to be done about one object, which may be gone.
  virtual void reconcile(const WorkKey& work) = 0;

  // To be looked at as soon as possible, or after a while unless it is looked at before.
  void mark(const WorkKey& work);
  void mark_after(const WorkKey& work, Duration delay);

  Verbs& verbs() { return verbs_; }
  const Registry::BuiltIn& kinds() const { return verbs_.registry().built_in(); }
  const Storage::Objects& objects(const Kind& kind) { return verbs_.storage().objects(kind); }
  // The object, or nothing.
  Decoded look_at(const Kind& kind, const ObjectKey& key);
  // A copy of it.
  std::optional<json::Value> find(const Kind& kind, const ObjectKey& key);
  // Changes the status of an object by a function; nothing is written if nothing changes.
  void change_status(const WorkKey& work, json::Value object);
  void change(const WorkKey& work, json::Value object);
  // Tells of an object; the same words about the same object count up an Event that is there.
  void tell(const json::Value& about, std::string_view type, std::string_view reason,
            std::string_view message);

  WallTime now() const { return runtime_.clock->wall(); }
  rt::Runtime runtime() const { return runtime_; }
  WriteOptions as_writer(std::string_view subresource = "") const;

 private:
  void note_all();
  std::optional<WorkKey> take_due(std::optional<Monotonic>& next);

  rt::Runtime runtime_;
  Verbs& verbs_;
  std::string name_;
  std::set<WorkKey> ready_;                          // to be looked at now
  std::map<WorkKey, Monotonic> later_;               // none of those that are ready
  std::set<std::pair<Monotonic, WorkKey>> by_time_;  // the same as later_
  rt::Signal marked_;
  std::shared_ptr<Storage::Listener> listener_;
};

}  // namespace quorate::apiserver

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/check.h"
#include "rt/backoff.h"
#include "rt/clock.h"

namespace quorate::rt {

// What made a key due. Each step up is worth `QueueOptions::advantage` of waiting.
enum class Priority { kResync, kEvent, kUserEdit };

struct QueueOptions {
  BackoffPolicy backoff;
  // A key never waits for one of the next higher priority that became due later than this after it:
  // nothing starves.
  Duration advantage = std::chrono::seconds(5);
};

struct QueueSizes {
  std::size_t ready = 0;       // due, waiting for a worker
  std::size_t delayed = 0;     // not due yet
  std::size_t processing = 0;  // in a worker's hands
  Duration longest_wait{};     // of those that are ready
};

namespace detail {

// A key's place in the queue. The key itself stands beside it, in KeyedQueue.
struct QueueItem {
  bool pending = false;     // to be processed (again)
  bool processing = false;  // in a worker's hands: not handed out a second time
  Priority priority = Priority::kResync;
  Monotonic due{};
  std::uint64_t sequence = 0;
  int failures = 0;

  bool idle() const { return !pending && !processing && failures == 0; }
};

// All of KeyedQueue but the keys.
class QueueCore {
 public:
  QueueCore(Runtime runtime, QueueOptions options);
  ~QueueCore();
  void schedule(QueueItem& item, Duration delay, Priority priority);
  void retry(QueueItem& item);
  void done(QueueItem& item);
  void withdraw(QueueItem& item);
  QueueItem* try_next();
  Task<Result<QueueItem*>> next(Deadline deadline);
  QueueSizes sizes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

// Work to do, one entry per key, for any number of workers:
//
//   CO_TRY(auto key, co_await queue.next(deadline));  work;  queue.done(key);
//
// A key is in the hands of at most one worker. What is added meanwhile waits for done(), and then
// counts once. Of several times asked for, the earliest holds; of several priorities, the highest.
// Order depends on times, priorities and the order of calls alone.
template <class Key>
class KeyedQueue {
 public:
  explicit KeyedQueue(Runtime runtime, QueueOptions options = {})
      : core_(std::move(runtime), options) {}

  void add(const Key& key, Priority priority) { core_.schedule(item(key), Duration(0), priority); }
  void add_after(const Key& key, Duration delay, Priority priority = Priority::kResync) {
    core_.schedule(item(key), delay, priority);
  }
  // After a failure: later, and later each time until forget(). Something new may come sooner.
  void retry(const Key& key) { core_.retry(item(key)); }
  // It worked, or the key is no more: the next failure is the first.
  void forget(const Key& key) {
    auto it = items_.find(key);
    if (it == items_.end()) return;
    it->second.failures = 0;
    drop_if_idle(it);
  }
  // The key is no more: nobody needs to look at it, unless somebody does already.
  void withdraw(const Key& key) {
    auto it = items_.find(key);
    if (it == items_.end() || it->second.processing) return;
    core_.withdraw(it->second);
    items_.erase(it);
  }
  // The worker that got `key` has ended with it. CHECKs that it was handed out.
  void done(const Key& key) {
    auto it = items_.find(key);
    CHECK(it != items_.end(), "done() with a key that is not in the queue");
    core_.done(it->second);
    drop_if_idle(it);
  }

  // The most urgent key that is due. kTimeout, kCancelled.
  Task<Result<Key>> next(Deadline deadline) {
    CO_TRY(auto* item, co_await core_.next(deadline));
    co_return key_of(item);
  }
  std::optional<Key> try_next() {
    detail::QueueItem* item = core_.try_next();
    if (!item) return std::nullopt;
    return key_of(item);
  }

  // How often in a row it has failed.
  int failures(const Key& key) const {
    auto it = items_.find(key);
    return it == items_.end() ? 0 : it->second.failures;
  }
  QueueSizes sizes() const { return core_.sizes(); }

 private:
  // A QueueItem that knows its key.
  struct Entry : detail::QueueItem {
    const Key* key = nullptr;
  };
  using Items = std::unordered_map<Key, Entry>;

  detail::QueueItem& item(const Key& key) {
    auto it = items_.try_emplace(key).first;
    it->second.key = &it->first;  // stays where it is while the entry lives
    return it->second;
  }
  const Key& key_of(detail::QueueItem* item) const { return *static_cast<Entry*>(item)->key; }
  void drop_if_idle(typename Items::iterator it) {
    if (it->second.idle()) items_.erase(it);
  }

  Items items_;  // looked up, never iterated: its order means nothing
  detail::QueueCore core_;
};

}  // namespace quorate::rt

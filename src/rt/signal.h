#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "rt/clock.h"

namespace quorate::rt {

// Wakes fibers that wait for something to change. One thread; a notification with nobody waiting is
// lost, so a waiter looks at the state first and waits only if it must:  while (!ready())
// CO_TRY(co_await changed.wait(deadline));
class Signal {
 public:
  explicit Signal(Runtime runtime);
  // Nobody should be waiting. In a crash somebody may be (a fiber of another actor): it is left to
  // its deadline.
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  // Wakes all who wait now. They run later, not inside this call.
  void notify();
  // Wakes the one who has waited longest. If that fiber is cancelled before it goes on, the next
  // one is woken in its place. For states that one waiter uses up.
  void notify_one();
  // Ok when notified; kTimeout at the deadline; kCancelled.
  Task<Result<void>> wait(Deadline deadline);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// A bounded queue between fibers. `send` waits while it is full: back-pressure.
template <class T>
class Channel {
 public:
  Channel(Runtime runtime, std::size_t capacity) : changed_(runtime), capacity_(capacity) {}

  // kUnavailable once closed.
  Task<Result<void>> send(T value, Deadline deadline) {
    while (!closed_ && items_.size() >= capacity_) CO_TRY(co_await changed_.wait(deadline));
    if (closed_) co_return fail(Code::kUnavailable, "channel closed");
    items_.push_back(std::move(value));
    changed_.notify();
    co_return Result<void>();
  }
  // False if it is full or closed.
  bool try_send(T value) {
    if (closed_ || items_.size() >= capacity_) return false;
    items_.push_back(std::move(value));
    changed_.notify();
    return true;
  }
  // Nothing once closed and drained.
  Task<Result<std::optional<T>>> receive(Deadline deadline) {
    while (items_.empty() && !closed_) CO_TRY(co_await changed_.wait(deadline));
    if (items_.empty()) co_return std::optional<T>();
    std::optional<T> value(std::move(items_.front()));
    items_.pop_front();
    changed_.notify();
    co_return value;
  }
  void close() {
    closed_ = true;
    changed_.notify();
  }
  std::size_t size() const { return items_.size(); }

 private:
  Signal changed_;
  std::size_t capacity_;
  std::deque<T> items_;
  bool closed_ = false;
};

// Bounds how many fibers are somewhere at once.
class Semaphore {
 public:
  // Gives its place back when it goes.
  class [[nodiscard]] Place {
   public:
    Place(Place&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (owner_) owner_->give_back();
    }

   private:
    friend class Semaphore;
    explicit Place(Semaphore* owner) : owner_(owner) {}
    Semaphore* owner_;
  };

  Semaphore(Runtime runtime, int places) : changed_(runtime), free_(places) {}
  Task<Result<Place>> enter(Deadline deadline) {
    while (free_ == 0) CO_TRY(co_await changed_.wait(deadline));
    --free_;
    co_return Place(this);
  }

 private:
  void give_back() {
    ++free_;
    changed_.notify_one();
  }
  Signal changed_;
  int free_;
};

}  // namespace quorate::rt

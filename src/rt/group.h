#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rt/clock.h"

namespace quorate::rt {

// Owns fibers: they are cancelled, then awaited, before the group goes. No fiber runs outside of a
// group.
//
// A fiber that throws (a broken invariant) is reported to `on_broken` with its name; the others go
// on. Without `on_broken` the exception comes out of the loop, which ends the program.
class TaskGroup {
 public:
  using OnBroken = std::function<void(const std::string& fiber, const std::string& what)>;

  explicit TaskGroup(Runtime runtime, OnBroken on_broken = {});
  // Without a preceding join() this is only right in a crash, when the frames are gone already.
  // Otherwise it ends the program, because running fibers may refer to what goes next. So nothing
  // may throw between spawn() and join() in a frame that owns a group.
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Starts `work`; it first runs later, not inside this call. After cancel() new work is dropped
  // unstarted.
  void spawn(std::string name, Task<void> work);
  // Tells every fiber to stop. Returns at once.
  void cancel();
  // Ends when no fiber is left. If the awaiting fiber is cancelled, it cancels them all and goes on
  // waiting: leaving them behind is not an option.
  Task<void> join();
  // Ok when no fiber is left; kTimeout or kCancelled before that, with the fibers still running.
  Task<Result<void>> join_until(Deadline deadline);
  // As join(), but neither the fibers nor the wait heed a cancellation of the awaiting fiber.
  Task<void> join_shielded();
  std::size_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

namespace detail {
// Runs `work` until it ends or the deadline passes, in which case it is cancelled and awaited. True
// if it ended by itself.
Task<bool> run_until(Runtime runtime, Deadline deadline, Task<void> work);
Task<void> run_shielded(Runtime runtime, Task<void> work);

template <class T>
Task<void> store(Task<T> work, std::optional<T>& slot) {
  slot.emplace(co_await std::move(work));
}
}  // namespace detail

// `work` with a deadline over all of it. kTimeout if it passes; by then `work` has been cancelled
// and has ended.
template <class T>
Task<Result<T>> with_deadline(Runtime runtime, Deadline deadline, Task<Result<T>> work) {
  std::optional<Result<T>> slot;
  bool ended = co_await detail::run_until(runtime, deadline, detail::store(std::move(work), slot));
  if (slot && (ended || slot->has_value())) co_return std::move(*slot);
  if (ended) co_return fail(Code::kCancelled, "cancelled");
  co_return fail(Code::kTimeout, "deadline passed");
}

// `work` to its end, which is not told that the awaiting fiber has been cancelled. For clean-up
// that must be carried through, and that has a deadline of its own.
template <class T>
Task<T> shielded(Runtime runtime, Task<T> work) {
  std::optional<T> slot;
  co_await detail::run_shielded(runtime, detail::store(std::move(work), slot));
  co_return std::move(*slot);
}

// Runs all at once, at most `at_once` of them side by side, and waits for all. Results stand in the
// order of the work. Cancelling the awaiting fiber cancels them all.
template <class T>
Task<std::vector<Result<T>>> all(Runtime runtime, std::vector<Task<Result<T>>> work,
                                 std::size_t at_once = 64);

}  // namespace quorate::rt

#include "rt/group_inl.h"

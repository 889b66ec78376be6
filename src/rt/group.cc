#include "rt/group.h"

#include <fmt/format.h>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <exception>
#include <list>

#include "rt/parking.h"

namespace asio = boost::asio;

namespace quorate::rt {

namespace {

struct Fiber {
  void cancel() {
    cancelled = true;
    // Before that Asio would throw, out of the loop.
    if (begun) stop.emit(asio::cancellation_type::terminal);
  }

  std::string name;
  asio::cancellation_signal stop;
  bool begun = false;
  bool cancelled = false;
  std::exception_ptr broken;
};

// Counts the fibers that have frames, so that a crash can prove that it left none.
class Counted {
 public:
  explicit Counted(detail::Parking& parking) : parking_(&parking) { ++parking_->fibers; }
  Counted(Counted&& other) noexcept : parking_(std::exchange(other.parking_, nullptr)) {}
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (parking_) --parking_->fibers;
  }

 private:
  detail::Parking* parking_;
};

std::string what(const std::exception_ptr& broken) {
  try {
    std::rethrow_exception(broken);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "not a std::exception";
  }
}

// The outermost frame of every fiber: cancellation never throws, and the exception barrier.
Task<void> run_fiber(Fiber* fiber, Task<void> work, Counted) {
  co_await asio::this_coro::throw_if_cancelled(false);
  fiber->begun = true;
  co_await asio::post(asio::use_awaitable);  // not inside of spawn()
  if (fiber->cancelled) co_return;
  try {
    co_await std::move(work);
  } catch (...) {
    fiber->broken = std::current_exception();
  }
}

}  // namespace

struct TaskGroup::State {
  State(Runtime with, OnBroken told)
      : runtime(std::move(with)),
        on_broken(std::move(told)),
        parking(detail::parking_of(runtime.executor)) {}

  void cancel() {
    cancelled = true;
    if (parking.tearing_down()) return;
    for (auto it = fibers.begin(); it != fibers.end();) {
      Fiber& fiber = *it++;
      fiber.cancel();
    }
  }

  void ended(std::list<Fiber>::iterator fiber) {
    auto name = std::move(fiber->name);
    auto broken = std::move(fiber->broken);
    fibers.erase(fiber);
    if (fibers.empty()) {
      for (auto it = joiners.begin(); it != joiners.end();) {
        detail::Waiter& joiner = *it++;
        joiner.wake(detail::Woken::kNotified);
      }
    }
    if (!broken) return;
    if (on_broken) return on_broken(name, what(broken));
    fmt::print(stderr, "fiber {}: {}\n", name, what(broken));
    std::rethrow_exception(broken);  // out of the loop
  }

  Runtime runtime;
  OnBroken on_broken;
  detail::Parking& parking;
  std::list<Fiber> fibers;
  detail::WaitList joiners;
  bool cancelled = false;
};

namespace {

// Asio's completion handler of a fiber. It names its cancellation slot itself: through
// bind_cancellation_slot Asio would post the cancellation, which could then come after the fiber's
// end.
template <class State>
class Ended {
 public:
  using cancellation_slot_type = asio::cancellation_slot;

  Ended(std::shared_ptr<State> state, std::list<Fiber>::iterator fiber)
      : state_(std::move(state)), fiber_(fiber) {}
  Ended(Ended&&) noexcept = default;
  Ended& operator=(Ended&&) = delete;
  // Not called: the fiber was destroyed in a crash.
  ~Ended() {
    if (state_) state_->fibers.erase(fiber_);
  }

  cancellation_slot_type get_cancellation_slot() const noexcept { return fiber_->stop.slot(); }
  // run_fiber lets no exception through.
  void operator()(const std::exception_ptr&) { std::exchange(state_, nullptr)->ended(fiber_); }

 private:
  std::shared_ptr<State> state_;
  std::list<Fiber>::iterator fiber_;
};

}  // namespace

TaskGroup::TaskGroup(Runtime runtime, OnBroken on_broken)
    : state_(std::make_shared<State>(std::move(runtime), std::move(on_broken))) {}

TaskGroup::~TaskGroup() {
  if (state_->fibers.empty() || state_->parking.tearing_down()) return;
  // Its fibers may refer to what goes next. There is no safe way on.
  fmt::print(stderr, "a TaskGroup goes while its fiber {} runs: join() is missing\n",
             state_->fibers.front().name);
  std::terminate();
}

void TaskGroup::spawn(std::string name, Task<void> work) {
  if (state_->cancelled || state_->parking.tearing_down()) return;
  auto& fibers = state_->fibers;
  auto fiber = fibers.emplace(fibers.end());
  fiber->name = std::move(name);
  auto executor = state_->parking.fiber_executor(state_->runtime.executor);
  auto frames = run_fiber(&*fiber, std::move(work), Counted(state_->parking));
  asio::co_spawn(executor, std::move(frames), Ended<State>(state_, fiber));
}

void TaskGroup::cancel() { state_->cancel(); }

Task<void> TaskGroup::join() {
  auto state = state_;
  auto cancellation = detail::Cancellation::kHeeded;
  while (!state->fibers.empty()) {
    auto how = co_await detail::park(Monotonic::max(), &state->joiners, cancellation);
    if (how != detail::Woken::kCancelled) continue;
    state->cancel();
    cancellation = detail::Cancellation::kIgnored;
  }
}

Task<void> TaskGroup::join_shielded() {
  auto state = state_;
  while (!state->fibers.empty())
    co_await detail::park(Monotonic::max(), &state->joiners, detail::Cancellation::kIgnored);
}

Task<Result<void>> TaskGroup::join_until(Deadline deadline) {
  auto state = state_;
  while (!state->fibers.empty()) {
    auto how = co_await detail::park(deadline.at, &state->joiners);
    CO_TRY(detail::notified(how));
  }
  co_return Result<void>();
}

std::size_t TaskGroup::size() const { return state_->fibers.size(); }

namespace detail {

namespace {

Task<void> keep_exception(Task<void> work, std::exception_ptr& broken) {
  try {
    co_await std::move(work);
  } catch (...) {
    broken = std::current_exception();
  }
}

// What the fibers of run_all share.
struct Share {
  std::vector<Task<void>> work;
  std::size_t next = 0;
  std::exception_ptr broken;
};

Task<void> take_work(Share& share) {
  while (share.next < share.work.size() && !share.broken) {
    if (!co_await check_cancelled()) co_return;
    auto work = std::move(share.work[share.next++]);
    std::exception_ptr broken;
    co_await keep_exception(std::move(work), broken);
    if (broken) share.broken = broken;
  }
}

}  // namespace

Task<bool> run_until(Runtime runtime, Deadline deadline, Task<void> work) {
  std::exception_ptr broken;
  TaskGroup group(runtime);
  group.spawn("with_deadline", keep_exception(std::move(work), broken));
  auto joined = co_await group.join_until(deadline);
  if (!joined) group.cancel();
  co_await group.join();
  if (broken) std::rethrow_exception(broken);
  co_return joined || joined.error() != Code::kTimeout;
}

Task<void> run_shielded(Runtime runtime, Task<void> work) {
  std::exception_ptr broken;
  TaskGroup group(runtime);
  group.spawn("shielded", keep_exception(std::move(work), broken));
  co_await group.join_shielded();
  if (broken) std::rethrow_exception(broken);
}

Task<void> run_all(Runtime runtime, std::vector<Task<void>> work, std::size_t at_once) {
  Share share{std::move(work), 0, nullptr};
  TaskGroup group(runtime);
  for (std::size_t i = 0; i < at_once && i < share.work.size(); ++i)
    group.spawn("all", take_work(share));
  co_await group.join();
  if (share.broken) std::rethrow_exception(share.broken);
}

}  // namespace detail

}  // namespace quorate::rt

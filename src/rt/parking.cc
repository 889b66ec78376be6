#include "rt/parking.h"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include "rt/machine_parking_impl.h"
#include "rt/virtual_executor_impl.h"

namespace asio = boost::asio;

namespace quorate::rt::detail {

void Waiter::wake(Woken how) {
  if (parking->tearing_down()) return;
  SignalHook::unlink();
  ParkedHook::unlink();
  TimerHook::unlink();
  resume(how);
}

void Timers::add(Waiter& waiter) {
  waiter.sequence = ++arrivals_;
  waiters_.insert(waiter);
}

Monotonic Timers::next() const {
  return waiters_.empty() ? Monotonic::max() : waiters_.begin()->at;
}

void Timers::wake_due(Monotonic now) {
  for (auto it = waiters_.begin(); it != waiters_.end() && it->at <= now;) {
    Waiter& due = *it++;
    due.wake(Woken::kDeadline);
  }
}

Parking& parking_of(const Executor& executor) {
  if (const auto* in_virtual_time = executor.target<VirtualExecutor>())
    return in_virtual_time->actor();
  return MachineParking::of(executor);
}

namespace {

// Erases the type of Asio's handler, which owns the suspended frames.
template <class Handler>
class WaiterFor final : public Waiter {
 public:
  explicit WaiterFor(Handler handler) : handler_(std::move(handler)) {}
  // In a crash the slot outlives this: what it points to must not.
  ~WaiterFor() override { slot_.clear(); }

  void heed_cancellation() {
    slot_ = asio::get_associated_cancellation_slot(handler_);
    if (slot_.is_connected())
      slot_.assign([this](asio::cancellation_type_t) { wake(Woken::kCancelled); });
  }

 private:
  void resume(Woken how) override {
    Handler handler = std::move(handler_);
    delete this;
    auto executor = asio::get_associated_executor(handler);
    asio::post(executor,
               [handler = std::move(handler), how]() mutable { std::move(handler)(how); });
  }

  Handler handler_;
  asio::cancellation_slot slot_;
};

struct Park {
  template <class Handler>
  void operator()(Handler handler) const {
    Executor fiber = asio::get_associated_executor(handler);
    auto* waiter = new WaiterFor<Handler>(std::move(handler));
    waiter->at = until;
    waiter->chosen = chosen;
    waiter->parking = parking;
    if (cancellation == Cancellation::kHeeded) waiter->heed_cancellation();
    if (list) list->push_back(*waiter);
    parking->admit(*waiter, fiber);
  }

  Parking* parking;
  Monotonic until;
  WaitList* list;
  Cancellation cancellation;
  bool* chosen;
};

}  // namespace

Task<Woken> park(Monotonic until, WaitList* list, Cancellation cancellation, bool* chosen) {
  const bool heeds = cancellation == Cancellation::kHeeded;
  auto state = co_await asio::this_coro::cancellation_state;
  if (heeds && state.cancelled() != asio::cancellation_type::none) co_return Woken::kCancelled;
  Executor executor = co_await asio::this_coro::executor;
  Park start{&parking_of(executor), until, list, cancellation, chosen};
  Woken how =
      co_await asio::async_initiate<const asio::deferred_t, void(Woken)>(start, asio::deferred);
  if (heeds && state.cancelled() != asio::cancellation_type::none) co_return Woken::kCancelled;
  co_return how;
}

Result<void> notified(Woken how) {
  switch (how) {
    case Woken::kNotified:
      return {};
    case Woken::kDeadline:
      return fail(Code::kTimeout, "deadline passed");
    case Woken::kCancelled:
      break;
  }
  return fail(Code::kCancelled, "cancelled");
}

}  // namespace quorate::rt::detail

namespace quorate::rt {

Task<Result<void>> check_cancelled() {
  auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none)
    co_return fail(Code::kCancelled, "cancelled");
  co_return Result<void>();
}

bool seam_open(const Runtime& runtime, std::string_view call) {
  return detail::parking_of(runtime.executor).seam_open(call);
}

}  // namespace quorate::rt

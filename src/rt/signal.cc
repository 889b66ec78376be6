#include "rt/signal.h"

#include "rt/parking.h"

namespace quorate::rt {

// Shared with those who wait, so that the Signal may go first (in a crash).
struct Signal::State {
  detail::WaitList waiters;

  void notify_one() {
    for (detail::Waiter& waiter : waiters) {
      if (waiter.parking->tearing_down()) continue;
      *waiter.chosen = true;
      return waiter.wake(detail::Woken::kNotified);
    }
  }

  // A wake-up given to one waiter must not be lost with it: if that fiber is cancelled or destroyed
  // before it goes on, the next one gets it.
  struct Choice {
    explicit Choice(std::shared_ptr<State> owner) : state(std::move(owner)) {}
    Choice(const Choice&) = delete;
    Choice& operator=(const Choice&) = delete;
    ~Choice() {
      if (chosen) state->notify_one();
    }
    std::shared_ptr<State> state;
    bool chosen = false;
  };
};

Signal::Signal(Runtime) : state_(std::make_shared<State>()) {}
Signal::~Signal() = default;

void Signal::notify() {
  auto& waiters = state_->waiters;
  for (auto it = waiters.begin(); it != waiters.end();) {
    detail::Waiter& waiter = *it++;
    waiter.wake(detail::Woken::kNotified);
  }
}

void Signal::notify_one() { state_->notify_one(); }

Task<Result<void>> Signal::wait(Deadline deadline) {
  State::Choice choice(state_);
  auto how = co_await detail::park(deadline.at, &choice.state->waiters,
                                   detail::Cancellation::kHeeded, &choice.chosen);
  if (how == detail::Woken::kNotified) choice.chosen = false;
  co_return detail::notified(how);
}

}  // namespace quorate::rt

#include "rt/machine_parking_impl.h"

namespace asio = boost::asio;

namespace quorate::rt::detail {

asio::execution_context::id MachineParking::id;

MachineParking::MachineParking(asio::execution_context& owner)
    : asio::execution_context::service(owner), timer_(static_cast<asio::io_context&>(owner)) {}

MachineParking& MachineParking::of(const Executor& executor) {
  return asio::use_service<MachineParking>(asio::query(executor, asio::execution::context));
}

Monotonic MachineParking::now() const { return machine_now(); }

void MachineParking::admit(Waiter& waiter, const Executor&) {
  parked_.push_back(waiter);
  if (waiter.at == Monotonic::max()) return;
  if (waiter.at <= now()) return waiter.wake(Woken::kDeadline);
  timers_.add(waiter);
  if (waiter.at < armed_for_) arm();
}

void MachineParking::arm() {
  armed_for_ = timers_.next();
  if (armed_for_ == Monotonic::max()) return;
  timer_.expires_at(std::chrono::steady_clock::time_point(armed_for_.time_since_epoch()));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;  // armed anew for a sooner time
    timers_.wake_due(now());
    arm();
  });
}

void MachineParking::shutdown() {
  shut_down_ = true;
  // Newest first: what waits was mostly started by what waits longer.
  while (!parked_.empty()) delete &parked_.back();
}

}  // namespace quorate::rt::detail

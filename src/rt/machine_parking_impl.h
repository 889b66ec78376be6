#pragma once

// Internal: the parking of a real loop, kept as a service of its io_context, so that it ends when
// Asio destroys what is still pending.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "rt/parking.h"

namespace quorate::rt::detail {

class MachineParking final : public boost::asio::execution_context::service, public Parking {
 public:
  using key_type = MachineParking;
  static boost::asio::execution_context::id id;

  explicit MachineParking(boost::asio::execution_context& owner);
  static MachineParking& of(const Executor& executor);

  Monotonic now() const override;
  void admit(Waiter& waiter, const Executor& fiber) override;
  Executor fiber_executor(const Executor& base) override { return base; }
  bool tearing_down() const override { return shut_down_; }
  bool seam_open(std::string_view) override { return !shut_down_; }

 private:
  void shutdown() override;
  void arm();

  Timers timers_;
  // One timer of Asio for all waits, armed for the soonest. It may fire for a wait that has ended
  // already, which is harmless.
  boost::asio::steady_timer timer_;
  Monotonic armed_for_ = Monotonic::max();
  bool shut_down_ = false;
};

Monotonic machine_now();  // in loop.cc, the one place that reads the machine's clocks

}  // namespace quorate::rt::detail

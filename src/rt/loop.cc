#include "rt/loop.h"

#include <sys/random.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <exception>

#include "base/check.h"
#include "rt/machine_parking_impl.h"

namespace asio = boost::asio;

namespace quorate::rt {

Monotonic detail::machine_now() {
  return Monotonic(std::chrono::steady_clock::now().time_since_epoch());
}

namespace {

class MachineClock final : public Clock {
 public:
  Monotonic now() const override { return detail::machine_now(); }
  WallTime wall() const override {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
  Task<Result<void>> sleep_until(Monotonic when) override {
    auto how = co_await detail::park(when);
    if (how == detail::Woken::kCancelled) co_return detail::notified(how);
    co_return Result<void>();
  }
};

class MachineRandom final : public Random {
 public:
  std::uint64_t next() override {
    if (used_ == values_.size()) refill();
    return values_[used_++];
  }

 private:
  // 256 bytes: the most that getrandom gives without interruption.
  void refill() {
    auto got = getrandom(values_.data(), sizeof(values_), 0);
    CHECK(got == static_cast<ssize_t>(sizeof(values_)), "getrandom: errno {}", errno);
    used_ = 0;
  }
  std::array<std::uint64_t, 32> values_{};
  std::size_t used_ = values_.size();
};

Task<void> run_main(Task<void> work) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await std::move(work);
}

Task<Result<int>> wait_for_any(std::vector<int> numbers) {
  CO_TRY(co_await check_cancelled());
  asio::signal_set signals(co_await asio::this_coro::executor);
  for (int number : numbers) {
    boost::system::error_code error;
    signals.add(number, error);
    if (error) co_return fail(errno_error("wait for signals", error.value()));
  }
  auto [error, number] = co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
  if (error) co_return fail(Code::kCancelled, "cancelled");
  co_return number;
}

}  // namespace

struct Loop::State {
  MachineClock clock;
  MachineRandom random;
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> busy = asio::make_work_guard(context);
  bool broken = false;  // an exception came out of a fiber: its frames and others are left behind
};

Loop::Loop() : state_(std::make_unique<State>()) {}
Loop::~Loop() = default;

Runtime Loop::runtime() {
  return {&state_->clock, &state_->random, state_->context.get_executor()};
}

void Loop::run_void(Task<void> work) {
  auto& context = state_->context;
  CHECK(!state_->broken, "the loop stopped in the middle of a fiber that broke");
  state_->broken = true;
  std::exception_ptr thrown;
  asio::co_spawn(context.get_executor(), run_main(std::move(work)),
                 [&context, &thrown](std::exception_ptr error) {
                   thrown = std::move(error);
                   context.stop();
                 });
  context.restart();
  context.run();
  state_->broken = false;
  if (thrown) std::rethrow_exception(thrown);
}

Task<Result<int>> Loop::wait_for_signal(std::initializer_list<int> signals) {
  return wait_for_any(signals);
}

}  // namespace quorate::rt

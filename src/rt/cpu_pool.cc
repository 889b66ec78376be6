#include "rt/cpu_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/check.h"
#include "rt/parking.h"
#include "rt/virtual_executor_impl.h"

namespace asio = boost::asio;

namespace quorate::rt {

namespace {

// One call of run(). `ended` and `waiter` belong to the loop's thread.
struct Order {
  explicit Order(std::shared_ptr<detail::PoolJob> what) : job(std::move(what)) {}

  std::shared_ptr<detail::PoolJob> job;
  bool ended = false;
  detail::WaitList waiter;
};

// New threads take no signals: those are for the loop.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

struct CpuPool::State {
  void work();
  bool take_back(const std::shared_ptr<Order>& order);

  Executor executor;
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::deque<std::shared_ptr<Order>> queue;
  bool stopping = false;

  std::vector<std::thread> threads;
};

// The body of each thread.
void CpuPool::State::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return stopping || !queue.empty(); });
    if (stopping) return;
    auto order = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    order->job->run();
    asio::post(executor, [order = std::move(order)] {
      order->ended = true;
      if (!order->waiter.empty()) order->waiter.front().wake(detail::Woken::kNotified);
    });
    lock.lock();
  }
}

// True if no thread has begun with it.
bool CpuPool::State::take_back(const std::shared_ptr<Order>& order) {
  std::lock_guard lock(mutex);
  return std::erase(queue, order) > 0;
}

CpuPool::CpuPool(Runtime runtime, int threads) : state_(std::make_shared<State>()) {
  state_->executor = runtime.executor;
  if (runtime.executor.target<detail::VirtualExecutor>()) return;
  CHECK(threads > 0);
  SignalsBlocked blocked;
  for (int i = 0; i < threads; ++i) state_->threads.emplace_back(&State::work, state_.get());
}

CpuPool::~CpuPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
  for (auto& thread : state_->threads) thread.join();
}

Task<Result<void>> CpuPool::run_job(std::shared_ptr<detail::PoolJob> job) {
  CO_TRY(co_await check_cancelled());
  if (state_->threads.empty()) {
    auto how = co_await detail::park(Monotonic::min());
    if (how == detail::Woken::kCancelled) co_return detail::notified(how);
    job->run();
    co_return Result<void>();
  }

  auto order = std::make_shared<Order>(std::move(job));
  {
    std::lock_guard lock(state_->mutex);
    state_->queue.push_back(order);
  }
  state_->changed.notify_one();

  auto cancellation = detail::Cancellation::kHeeded;
  while (!order->ended) {
    auto how = co_await detail::park(Monotonic::max(), &order->waiter, cancellation);
    if (how != detail::Woken::kCancelled) continue;
    cancellation = detail::Cancellation::kIgnored;
    if (state_->take_back(order)) break;
  }
  if (cancellation == detail::Cancellation::kIgnored) co_return fail(Code::kCancelled, "cancelled");
  co_return Result<void>();
}

}  // namespace quorate::rt

#include "tests/sim/plans/parallel.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace quorate::sim {

void run_all(const std::vector<Trial>& trials, unsigned jobs,
             const std::function<void(const Trial&, const Outcome&)>& each) {
  std::vector<std::optional<Outcome>> outcomes(trials.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::condition_variable done;
  auto work = [&] {
    for (auto i = next++; i < trials.size(); i = next++) {
      auto outcome = run(trials[i]);
      const std::lock_guard lock(mutex);
      outcomes[i] = std::move(outcome);
      done.notify_one();
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < jobs; ++i) workers.emplace_back(work);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return outcomes[i].has_value(); });
    const auto outcome = std::move(*outcomes[i]);
    outcomes[i].reset();
    lock.unlock();
    each(trials[i], outcome);
  }
}

}  // namespace quorate::sim

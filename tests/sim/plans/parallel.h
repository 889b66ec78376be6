#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tests/sim/plans/runner.h"

namespace quorate::sim {

// Makes `count` things in threads, and hands them over in their order and in the caller's thread.
template <class T>
void side_by_side(std::size_t count, unsigned jobs, const std::function<T(std::size_t)>& make,
                  const std::function<void(std::size_t, const T&)>& each) {
  std::vector<std::optional<T>> made(count);
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::condition_variable done;
  auto work = [&] {
    for (auto i = next++; i < count; i = next++) {
      auto one = make(i);
      const std::lock_guard lock(mutex);
      made[i] = std::move(one);
      done.notify_one();
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < jobs; ++i) workers.emplace_back(work);
  for (std::size_t i = 0; i < count; ++i) {
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return made[i].has_value(); });
    const T one = std::move(*made[i]);
    made[i].reset();
    lock.unlock();
    each(i, one);
  }
}

// Runs trials, one world a thread.
void run_all(const std::vector<Trial>& trials, unsigned jobs,
             const std::function<void(const Trial&, const Outcome&)>& each);

}  // namespace quorate::sim

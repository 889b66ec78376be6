#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>

#include "rt/clock.h"

namespace quorate::rt {

namespace detail {

// Work for a thread of the pool.
class PoolJob {
 public:
  virtual ~PoolJob() = default;
  virtual void run() noexcept = 0;
};

template <class T>
struct PoolValue {
  using type = T;
};
template <class T>
struct PoolValue<Result<T>> {
  using type = T;
};

// Calls `function` and keeps what it gives; what it throws becomes kInternal.
template <class Function, class T>
class PoolJobOf final : public PoolJob {
 public:
  explicit PoolJobOf(Function function) : function_(std::move(function)) {}

  void run() noexcept override {
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Function>>) {
        function_();
        result_.emplace();
      } else {
        result_.emplace(function_());
      }
    } catch (const std::exception& thrown) {
      result_.emplace(fail(Code::kInternal, thrown.what()));
    } catch (...) {
      result_.emplace(fail(Code::kInternal, "an exception of unknown type"));
    }
  }
  Result<T> take() { return std::move(*result_); }

 private:
  Function function_;
  std::optional<Result<T>> result_;
};

}  // namespace detail

// A few threads for work that would hold the loop up: compression, keys, big parses, disks. The
// only threads of the program. They touch nothing but what the function was given.
//
// In virtual time there are none: the work runs as a step of the fiber that asked for it.
class CpuPool {
 public:
  CpuPool(Runtime runtime, int threads);
  // Joins the threads. No fiber may be waiting in run().
  ~CpuPool();
  CpuPool(const CpuPool&) = delete;
  CpuPool& operator=(const CpuPool&) = delete;

  // Runs `function` (giving T or Result<T>) on a thread and gives its value here; an exception of
  // it becomes kInternal. If the fiber is cancelled, work that has not begun is dropped; work that
  // has begun is waited for, so `function` may refer to what the awaiting frames hold. Both give
  // kCancelled.
  template <class Function>
  auto run(Function function)
      -> Task<Result<typename detail::PoolValue<std::invoke_result_t<Function>>::type>> {
    using T = typename detail::PoolValue<std::invoke_result_t<Function>>::type;
    auto job = std::make_shared<detail::PoolJobOf<Function, T>>(std::move(function));
    CO_TRY(co_await run_job(job));
    co_return job->take();
  }

 private:
  Task<Result<void>> run_job(std::shared_ptr<detail::PoolJob> job);
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace quorate::rt

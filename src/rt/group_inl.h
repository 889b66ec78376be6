#pragma once

#include "base/check.h"
#include "rt/group.h"

namespace quorate::rt {

namespace detail {
// Runs all of `work`, at most `at_once` side by side. Throws what the first broken one threw, after
// all that ran have ended.
Task<void> run_all(Runtime runtime, std::vector<Task<void>> work, std::size_t at_once);
}  // namespace detail

template <class T>
Task<std::vector<Result<T>>> all(Runtime runtime, std::vector<Task<Result<T>>> work,
                                 std::size_t at_once) {
  CHECK(at_once > 0);
  std::vector<std::optional<Result<T>>> slots(work.size());
  std::vector<Task<void>> stores;
  stores.reserve(work.size());
  for (std::size_t i = 0; i < work.size(); ++i)
    stores.push_back(detail::store(std::move(work[i]), slots[i]));
  co_await detail::run_all(runtime, std::move(stores), at_once);
  std::vector<Result<T>> results;
  results.reserve(slots.size());
  for (auto& slot : slots) {
    if (slot)
      results.push_back(std::move(*slot));
    else
      results.push_back(fail(Code::kCancelled, "cancelled before it began"));
  }
  co_return results;
}

}  // namespace quorate::rt

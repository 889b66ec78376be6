#pragma once

#include <initializer_list>
#include <memory>
#include <optional>

#include "rt/clock.h"
#include "rt/group.h"

namespace quorate::rt {

// The real thing: one thread, the machine's clocks, the kernel's randomness.
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Runtime runtime();

  // Runs `work` to its end on the calling thread and gives its value. Exceptions of `work` come out
  // here.
  template <class T>
  T run(Task<T> work) {
    std::optional<T> slot;
    run_void(detail::store(std::move(work), slot));
    return std::move(*slot);
  }
  void run(Task<void> work) { run_void(std::move(work)); }

  // Ends when one of the signals arrives; gives its number.
  Task<Result<int>> wait_for_signal(std::initializer_list<int> signals);

 private:
  void run_void(Task<void> work);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quorate::rt

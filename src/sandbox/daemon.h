#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace quorate::sandbox {

// Runs `work` in a process of its own, which goes on when the caller and its terminal have gone:
// another session, nothing from standard input, and standard output and error at the end of `log`.
//
// Ends when the work has called `ready`, or has ended before that: with its error. To be called
// while the process has one thread.
[[nodiscard]] Result<void> run_in_background(
    const std::string& log, const std::function<Result<void>(std::function<void()> ready)>& work);

}  // namespace quorate::sandbox

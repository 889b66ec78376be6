#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace quorate {

// A broken invariant of ours. Thrown by CHECK alone; caught by the one barrier of each fiber, which
// reports it and gives up that fiber's work, so that a defect met in one cluster does not stop the
// others. In the simulator it fails the run.
class BrokenInvariant : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void broken_invariant(const char* condition, const char* file, int line,
                                   const std::string& detail);

}  // namespace quorate

// CHECK(condition);  CHECK(condition, "format {}", value);   Always on, in every build.
#define CHECK(condition, ...)                                                             \
  do {                                                                                    \
    if (!(condition)) [[unlikely]]                                                        \
      ::quorate::broken_invariant(#condition, __FILE__, __LINE__,                         \
                                  ::std::string(__VA_OPT__(::fmt::format(__VA_ARGS__)))); \
  } while (false)

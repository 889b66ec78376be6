#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace quorate::support {

// A fixture could not do what the test told it to: a part that was not built, a server that did not
// become ready. It is thrown, not returned, because a test has no other answer to it than to fail
// with this text, which is what GoogleTest makes of an exception.
class FixtureError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The same for a refused system call: `fork: resource temporarily unavailable`.
[[noreturn]] inline void throw_errno(const std::string& operation, int number = errno) {
  throw FixtureError(operation + ": " + std::generic_category().message(number));
}

}  // namespace quorate::support

#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace quorate {

// A value, or the reason why there is none. Result<void> for effects. The type is [[nodiscard]]
// where it is returned.
template <class T>
using Result = tl::expected<T, Error>;

// `return fail(Code::kInvalid, "...")` from any function that returns a Result.
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
inline tl::unexpected<Error> fail(Code code, std::string message) {
  return tl::unexpected<Error>(Error(code, std::move(message)));
}

// The same result, with `operation` added to the chain if it is a failure.
template <class T>
Result<T> in(std::string_view operation, Result<T> result) {
  if (!result) return fail(std::move(result.error()).in(operation));
  return result;
}

}  // namespace quorate

// TRY(auto x, expression);  -- binds the value, or returns the error to the caller.
// TRY(expression);          -- for Result<void>.
// CO_TRY is the same inside coroutines.
#define QUORATE_JOIN_(a, b) a##b
#define QUORATE_JOIN(a, b) QUORATE_JOIN_(a, b)
#define QUORATE_TRY_BIND(leave, temporary, declaration, ...)           \
  auto temporary = (__VA_ARGS__);                                      \
  if (!temporary) leave ::quorate::fail(std::move(temporary).error()); \
  declaration = std::move(*temporary)
#define QUORATE_TRY_VOID(leave, temporary, ...)   \
  if (auto temporary = (__VA_ARGS__); !temporary) \
  leave ::quorate::fail(std::move(temporary).error())
#define QUORATE_TRY_PICK(leave, first, ...)                                  \
  QUORATE_TRY_VOID##__VA_OPT__(_NOT)(leave, QUORATE_JOIN(try_, __COUNTER__), \
                                     first __VA_OPT__(, ) __VA_ARGS__)
#define QUORATE_TRY_VOID_NOT(leave, temporary, ...) QUORATE_TRY_BIND(leave, temporary, __VA_ARGS__)
#define TRY(...) QUORATE_TRY_PICK(return, __VA_ARGS__)
#define CO_TRY(...) QUORATE_TRY_PICK(co_return, __VA_ARGS__)

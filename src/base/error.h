#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace quorate {

// What the caller may do about a failure. The code is chosen where the failure is understood and
// never changes on the way up.
enum class Code {
  kNotFound,        // the thing does not exist
  kConflict,        // somebody else changed it: read again, decide again
  kGone,            // the position in a stream is too old: start from a fresh list
  kForbidden,       // not allowed; trying again does not help
  kInvalid,         // the request or the input is wrong; trying again does not help
  kUnavailable,     // the other side is not there now and did not act: trying again is safe
  kTimeout,         // a wait of ours passed its deadline; nothing was asked of anybody
  kThrottled,       // too fast; see retry_after
  kCancelled,       // we were told to stop
  kCorrupt,         // bytes that cannot be what they claim to be
  kUnknownOutcome,  // the request may or may not have taken effect: look before acting again
  kInternal,        // a broken assumption of ours
};

std::string_view name(Code code);

// A failure for outside reasons: {code, operations, message, cause, status, retry_after}. One
// pointer wide; copying shares.
//
// Rendered as the chain of operations from the outside in, then the message: `remove member
// 8e9e05c52164694d: etcd: no leader`. Texts are lower case, without a final period, with ids
// verbatim, and never hold a secret.
class [[nodiscard]] Error {
 public:
  Error(Code code, std::string message);

  Code code() const;
  const std::string& message() const;  // the innermost text, without operations
  std::optional<int> status() const;   // the other side's own number: HTTP or gRPC status, errno
  std::optional<std::chrono::milliseconds> retry_after() const;

  // The same failure, seen by the layer that tried `operation`.
  Error in(std::string_view operation) const&;
  Error in(std::string_view operation) &&;
  Error with_status(int status) &&;
  Error with_retry_after(std::chrono::milliseconds delay) &&;
  Error caused_by(Error cause) &&;
  // The same failure under another code: for the one layer that knows better (a lost answer to a
  // write is kUnknownOutcome).
  Error as(Code code) &&;

  const Error* cause() const;
  std::string text() const;  // operations, message, and the cause's text

 private:
  struct Rep;
  Rep& own();
  std::shared_ptr<Rep> rep_;
};

inline bool operator==(const Error& error, Code code) { return error.code() == code; }

// errno as an Error: `open /x: no such file or directory`.
Error errno_error(std::string_view operation, int number);

}  // namespace quorate

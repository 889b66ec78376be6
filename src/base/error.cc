#include "base/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <vector>

namespace quorate {

std::string_view name(Code code) {
  switch (code) {
    case Code::kNotFound:
      return "not found";
    case Code::kConflict:
      return "conflict";
    case Code::kGone:
      return "gone";
    case Code::kForbidden:
      return "forbidden";
    case Code::kInvalid:
      return "invalid";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kTimeout:
      return "timeout";
    case Code::kThrottled:
      return "throttled";
    case Code::kCancelled:
      return "cancelled";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kUnknownOutcome:
      return "unknown outcome";
    case Code::kInternal:
      return "internal";
  }
  return "unknown";
}

struct Error::Rep {
  Code code;
  std::string message;
  std::vector<std::string> operations;  // innermost first
  std::optional<int> status;
  std::optional<std::chrono::milliseconds> retry_after;
  std::optional<Error> cause;
};

Error::Error(Code code, std::string message) : rep_(std::make_shared<Rep>()) {
  rep_->code = code;
  rep_->message = std::move(message);
}

Code Error::code() const { return rep_->code; }
const std::string& Error::message() const { return rep_->message; }
std::optional<int> Error::status() const { return rep_->status; }
std::optional<std::chrono::milliseconds> Error::retry_after() const { return rep_->retry_after; }
const Error* Error::cause() const { return rep_->cause ? &*rep_->cause : nullptr; }

Error::Rep& Error::own() {
  if (rep_.use_count() > 1) rep_ = std::make_shared<Rep>(*rep_);
  return *rep_;
}

Error Error::in(std::string_view operation) const& { return Error(*this).in(operation); }

Error Error::in(std::string_view operation) && {
  own().operations.emplace_back(operation);
  return std::move(*this);
}

Error Error::with_status(int status) && {
  own().status = status;
  return std::move(*this);
}

Error Error::with_retry_after(std::chrono::milliseconds delay) && {
  own().retry_after = delay;
  return std::move(*this);
}

Error Error::caused_by(Error cause) && {
  own().cause = std::move(cause);
  return std::move(*this);
}

Error Error::as(Code code) && {
  own().code = code;
  return std::move(*this);
}

std::string Error::text() const {
  std::string out;
  for (auto it = rep_->operations.rbegin(); it != rep_->operations.rend(); ++it) out += *it + ": ";
  out += rep_->message;
  if (rep_->cause) out += ": " + rep_->cause->text();
  return out;
}

namespace {

Code code_of_errno(int number) {
  switch (number) {
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
      return Code::kConflict;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kForbidden;
    case EINVAL:
    case ENAMETOOLONG:
      return Code::kInvalid;
    case ETIMEDOUT:
      return Code::kTimeout;
    case ECANCELED:
      return Code::kCancelled;
    default:
      return Code::kUnavailable;
  }
}

}  // namespace

Error errno_error(std::string_view operation, int number) {
  auto text = std::generic_category().message(number);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z')
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return Error(code_of_errno(number), std::move(text)).with_status(number).in(operation);
}

}  // namespace quorate

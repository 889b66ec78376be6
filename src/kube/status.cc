#include "kube/status.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/strings.h"

namespace quorate::kube {
namespace {

constexpr std::size_t kQuoted = 256;  // bytes of a foreign body that an error shows
constexpr std::chrono::seconds kLongestRetryAfter = std::chrono::hours(1);

void read(json::Reader& in, Status::Cause& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "reason")
      out.reason = value.text();
    else if (key == "message")
      out.message = value.text();
    else if (key == "field")
      out.field = value.text();
  });
}

void read_details(json::Reader& in, Status& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "causes") {
      value.items([&](json::Reader& cause) { read(cause, out.causes.emplace_back()); });
    } else if (key == "retryAfterSeconds") {
      const auto seconds = value.integer();
      if (seconds > 0)
        out.retry_after = std::min(std::chrono::seconds(seconds), kLongestRetryAfter);
    }
  });
}

// A patch that names a UID and meets another object: the server takes it for an attempt to change
// the UID (422), we for what it is.
bool is_another_object(const Status& status) {
  return std::any_of(status.causes.begin(), status.causes.end(),
                     [](const Status::Cause& cause) { return cause.field == "metadata.uid"; });
}

Code code_of(const Status& status, Effect effect) {
  const int http = status.code;
  if (http == 422 && is_another_object(status)) return Code::kConflict;
  switch (http) {
    case 401:
    case 403:
      return Code::kForbidden;
    case 404:
      return Code::kNotFound;
    case 409:
      return Code::kConflict;
    case 410:
      return Code::kGone;
    case 429:
      return Code::kThrottled;
    default:
      break;
  }
  if (http >= 500) return effect == Effect::kRead ? Code::kUnavailable : Code::kUnknownOutcome;
  return Code::kInvalid;
}

bool is_mentioned(const Status& status, const Status::Cause& cause) {
  return status.message.find(cause.message) != std::string::npos;
}

std::string message_of(const Status& status) {
  std::string out = status.message;
  if (out.empty()) out = fmt::format("the server answered {}", status.code);
  for (const auto& cause : status.causes) {
    if (cause.message.empty() || is_mentioned(status, cause)) continue;
    out += cause.field.empty() ? fmt::format("; {}", cause.message)
                               : fmt::format("; {}: {}", cause.field, cause.message);
  }
  return out;
}

// The reason that reason_of() gives: the most telling word that the server used.
std::string_view telling_reason(const Status& status) {
  static constexpr std::string_view kTelling[] = {"ResourceVersionTooLarge", "DisruptionBudget",
                                                  "NamespaceTerminating"};
  for (const auto& cause : status.causes)
    for (auto word : kTelling)
      if (cause.reason == word) return word;
  return status.reason;
}

std::optional<std::chrono::seconds> retry_after_of(const net::Headers& headers) {
  auto header = net::find_header(headers, "retry-after");
  if (!header) return std::nullopt;
  // A date may stand there, too; API servers do not send one, and the body's word then counts.
  auto seconds = parse_integer(*header);
  if (!seconds || *seconds < 0) return std::nullopt;
  return std::min(std::chrono::seconds(*seconds), kLongestRetryAfter);
}

bool is_json(const net::Headers& headers) {
  auto type = net::find_header(headers, "content-type");
  return !type || type->find("json") != std::string_view::npos;
}

}  // namespace

void read(json::Reader& in, Status& out) {
  in.fields([&](std::string_view key, json::Reader& value) {
    if (key == "code")
      out.code = static_cast<int>(std::clamp<std::int64_t>(value.integer(), 0, 999));
    else if (key == "reason")
      out.reason = value.text();
    else if (key == "message")
      out.message = value.text();
    else if (key == "details")
      read_details(value, out);
  });
}

// The reason travels as the error's cause: code and message are the caller's and people's, this one
// word is for is_already_exists() and its kind.
Error to_error(const Status& status, Effect effect) {
  Error error(code_of(status, effect), message_of(status));
  error = std::move(error).with_status(status.code);
  if (status.retry_after) error = std::move(error).with_retry_after(*status.retry_after);
  const auto reason = telling_reason(status);
  if (!reason.empty()) {
    Error word(error.code(), std::string(reason));
    error = std::move(error).caused_by(std::move(word));
  }
  return error;
}

Error to_error(const net::Response& answer, Effect effect) {
  Status status;
  json::Projector projector;
  auto parsed = is_json(answer.headers) && !answer.body.empty()
                    ? json::project<Status>(projector, answer.body)
                    : Result<Status>(fail(Code::kCorrupt, "no status"));
  if (parsed)
    status = std::move(*parsed);
  else
    status.message = to_valid_utf8(trim(answer.body.substr(0, kQuoted)));
  status.code = answer.status;
  if (auto header = retry_after_of(answer.headers)) status.retry_after = header;
  return to_error(status, effect);
}

std::string_view reason_of(const Error& error) {
  const Error* cause = error.cause();
  return error.status() && cause ? std::string_view(cause->message()) : std::string_view();
}

bool is_already_exists(const Error& error) {
  return error == Code::kConflict && reason_of(error) == "AlreadyExists";
}

bool is_version_too_large(const Error& error) {
  return reason_of(error) == "ResourceVersionTooLarge";
}

bool is_budget_exhausted(const Error& error) {
  return error == Code::kThrottled && reason_of(error) == "DisruptionBudget";
}

bool is_namespace_terminating(const Error& error) {
  return error == Code::kForbidden && reason_of(error) == "NamespaceTerminating";
}

}  // namespace quorate::kube

#include "apiserver/refusal.h"

#include <fmt/format.h>

namespace quorate::apiserver {

namespace {

json::Object name_details(const ResourceName& resource, std::string_view name) {
  json::Object details;
  if (!name.empty()) details["name"] = name;
  if (!resource.group.empty()) details["group"] = resource.group;
  if (!resource.name.empty()) details["kind"] = resource.name;
  return details;
}

// As messages name a resource: "pods", "etcdclusters.quorate.io".
std::string qualified(const ResourceName& resource) {
  return resource.group.empty() ? resource.name
                                : fmt::format("{}.{}", resource.name, resource.group);
}

Code code_of(int status, std::string_view reason) {
  switch (status) {
    case 404:
      return Code::kNotFound;
    case 409:
      return Code::kConflict;
    case 410:
      return Code::kGone;
    case 401:
    case 403:
      return Code::kForbidden;
    case 429:
      return Code::kThrottled;
    default:
      return status >= 500 ? (reason == "Timeout" ? Code::kUnavailable : Code::kInternal)
                           : Code::kInvalid;
  }
}

}  // namespace

json::Value Refusal::status() const {
  json::Object metadata;
  if (!list_continue.empty()) metadata["continue"] = list_continue;
  json::Object status{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", std::move(metadata)},
                      {"status", "Failure"},
                      {"message", message}};
  if (!reason.empty()) status["reason"] = reason;
  if (details) status["details"] = *details;
  status["code"] = code;
  return status;
}

Error Refusal::error() const {
  auto error = Error(code_of(code, reason), message).with_status(code);
  if (!retry_after_seconds) return error;
  return std::move(error).with_retry_after(std::chrono::seconds(*retry_after_seconds));
}

Refusal not_found(const ResourceName& resource, std::string_view name) {
  return {.code = 404,
          .reason = "NotFound",
          .message = fmt::format("{} \"{}\" not found", qualified(resource), name),
          .details = name_details(resource, name),
          .retry_after_seconds = {}};
}

Refusal no_such_path() {
  return {.code = 404,
          .reason = "NotFound",
          .message = "the server could not find the requested resource",
          .details = json::Object(),
          .retry_after_seconds = {}};
}

Refusal already_exists(const ResourceName& resource, std::string_view name, bool is_deleting) {
  return {.code = 409,
          .reason = "AlreadyExists",
          .message = fmt::format("{}{} \"{}\" already exists",
                                 is_deleting ? "object is being deleted: " : "",
                                 qualified(resource), name),
          .details = name_details(resource, name),
          .retry_after_seconds = {}};
}

Refusal conflict(const ResourceName& resource, std::string_view name, std::string_view why) {
  return {.code = 409,
          .reason = "Conflict",
          .message = fmt::format("Operation cannot be fulfilled on {} \"{}\": {}",
                                 qualified(resource), name, why),
          .details = name_details(resource, name),
          .retry_after_seconds = {}};
}

Refusal modified_meanwhile(const ResourceName& resource, std::string_view name) {
  return conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Refusal invalid(const ResourceName& kind, std::string_view name, const FieldErrors& errors) {
  auto details = name_details(kind, name);
  if (!errors.empty()) details["causes"] = make_causes(errors);
  return {.code = 422,
          .reason = "Invalid",
          .message = invalid_message(qualified(kind), name, errors),
          .details = std::move(details),
          .retry_after_seconds = {}};
}

Refusal bad_request(std::string message) {
  return {.code = 400,
          .reason = "BadRequest",
          .message = std::move(message),
          .details = {},
          .retry_after_seconds = {}};
}

Refusal forbidden(const ResourceName& resource, std::string_view name, std::string_view why) {
  return {.code = 403,
          .reason = "Forbidden",
          .message = fmt::format("{} \"{}\" is forbidden: {}", qualified(resource), name, why),
          .details = name_details(resource, name),
          .retry_after_seconds = {}};
}

Refusal method_not_allowed() {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource",
          .details = json::Object(),
          .retry_after_seconds = {}};
}

Refusal not_acceptable(std::string message) {
  return {.code = 406,
          .reason = "NotAcceptable",
          .message = std::move(message),
          .details = {},
          .retry_after_seconds = {}};
}

Refusal unsupported_media_type(std::string message) {
  return {.code = 415,
          .reason = "UnsupportedMediaType",
          .message = std::move(message),
          .details = json::Object(),
          .retry_after_seconds = {}};
}

Refusal expired(std::string message) {
  return {.code = 410,
          .reason = "Expired",
          .message = std::move(message),
          .details = {},
          .retry_after_seconds = {}};
}

Refusal version_too_large(std::int64_t asked, std::int64_t current) {
  json::Object details{{"causes", json::Array{{{"reason", "ResourceVersionTooLarge"},
                                               {"message", "Too large resource version"}}}},
                       {"retryAfterSeconds", 1}};
  return {.code = 504,
          .reason = "Timeout",
          .message =
              fmt::format("Timeout: Too large resource version: {}, current: {}", asked, current),
          .details = std::move(details),
          .retry_after_seconds = {}};
}

Refusal internal_error(std::string message) {
  return {.code = 500,
          .reason = "InternalError",
          .message = fmt::format("Internal error occurred: {}", message),
          .details = json::Object{{"causes", json::Array{{{"message", message}}}}},
          .retry_after_seconds = {}};
}

}  // namespace quorate::apiserver

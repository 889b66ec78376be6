#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"

namespace quorate::apiserver {

// One thing that is wrong with one field of an object, in the words of the real server:
// `spec.replicas: Invalid value: "x": spec.replicas in body must be of type integer: "string"`.
struct FieldError {
  enum class Kind {
    kNotFound,
    kRequired,
    kDuplicate,
    kInvalid,
    kNotSupported,
    kForbidden,
    kTooLong,
    kTooMany,
    kInternal,
    kTypeInvalid,
  };

  Kind kind = Kind::kInvalid;
  std::string field;  // spec.containers[0].name; "<nil>" for the object as a whole
  std::string body;   // Invalid value: "x": spec.replicas in body must be ...

  std::string text() const { return field + ": " + body; }
  std::string_view reason() const;  // FieldValueInvalid: of the cause in a Status
  friend bool operator==(const FieldError&, const FieldError&) = default;
};
using FieldErrors = std::vector<FieldError>;

// Makers of each kind. Values are rendered as the real server does: texts in Go's quotes, scalars
// plain, all else as JSON.
[[nodiscard]] FieldError invalid_value(std::string field, const json::Value& value,
                                       std::string_view detail);
[[nodiscard]] FieldError type_invalid(std::string field, const json::Value& value,
                                      std::string_view detail);
[[nodiscard]] FieldError required_value(std::string field, std::string_view detail = "");
[[nodiscard]] FieldError duplicate_value(std::string field, const json::Value& value);
[[nodiscard]] FieldError forbidden(std::string field, std::string_view detail);
[[nodiscard]] FieldError not_supported(std::string field, const json::Value& value,
                                       const std::vector<std::string>& supported);
[[nodiscard]] FieldError not_found(std::string field, const json::Value& value);
[[nodiscard]] FieldError too_long(std::string field, std::int64_t most);
[[nodiscard]] FieldError too_many(std::string field, std::int64_t actual, std::int64_t most);

// The text of a Status 422: `Pod "x" is invalid: spec.a: Required value`, several errors in
// brackets and each text once. `kind` with its group: `EtcdCluster.quorate.io`, `Pod`.
[[nodiscard]] std::string invalid_message(std::string_view kind, std::string_view name,
                                          const FieldErrors& errors);
// The list for status.details.causes: [{"reason", "message", "field"}, ...].
[[nodiscard]] json::Array make_causes(const FieldErrors& errors);

// Go's %q of a text. An object, so that argument-dependent lookup does not find std::quoted.
struct Quoted {
  [[nodiscard]] std::string operator()(std::string_view text) const;
};
inline constexpr Quoted quoted;

}  // namespace quorate::apiserver

#include "apiserver/schema_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace quorate::apiserver {

namespace {

// Go's text of a value in an error.
std::string shown(const json::Value& value) {
  if (const auto* text = value.if_string()) return quoted(*text);
  return json::render(value);
}

FieldError with_value(FieldError::Kind kind, std::string_view head, std::string field,
                      const json::Value& value, std::string_view detail) {
  std::string body = fmt::format("{}: {}", head, shown(value));
  if (!detail.empty()) body += fmt::format(": {}", detail);
  return {kind, std::move(field), std::move(body)};
}

FieldError without_value(FieldError::Kind kind, std::string_view head, std::string field,
                         std::string_view detail) {
  return {kind, std::move(field),
          detail.empty() ? std::string(head) : fmt::format("{}: {}", head, detail)};
}

}  // namespace

std::string Quoted::operator()(std::string_view text) const {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\a':
        out += "\\a";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\v':
        out += "\\v";
        break;
      default:
        if (byte < 0x20 || byte == 0x7f)
          out += fmt::format("\\x{:02x}", byte);
        else
          out += c;
    }
  }
  return out + '"';
}

std::string_view FieldError::reason() const {
  switch (kind) {
    case Kind::kNotFound:
      return "FieldValueNotFound";
    case Kind::kRequired:
      return "FieldValueRequired";
    case Kind::kDuplicate:
      return "FieldValueDuplicate";
    case Kind::kInvalid:
      return "FieldValueInvalid";
    case Kind::kNotSupported:
      return "FieldValueNotSupported";
    case Kind::kForbidden:
      return "FieldValueForbidden";
    case Kind::kTooLong:
      return "FieldValueTooLong";
    case Kind::kTooMany:
      return "FieldValueTooMany";
    case Kind::kInternal:
      return "InternalError";
    case Kind::kTypeInvalid:
      return "FieldValueTypeInvalid";
  }
  return "InternalError";
}

FieldError invalid_value(std::string field, const json::Value& value, std::string_view detail) {
  return with_value(FieldError::Kind::kInvalid, "Invalid value", std::move(field), value, detail);
}
FieldError type_invalid(std::string field, const json::Value& value, std::string_view detail) {
  return with_value(FieldError::Kind::kTypeInvalid, "Invalid value", std::move(field), value,
                    detail);
}
FieldError duplicate_value(std::string field, const json::Value& value) {
  return with_value(FieldError::Kind::kDuplicate, "Duplicate value", std::move(field), value, "");
}
FieldError not_found(std::string field, const json::Value& value) {
  return with_value(FieldError::Kind::kNotFound, "Not found", std::move(field), value, "");
}
FieldError required_value(std::string field, std::string_view detail) {
  return without_value(FieldError::Kind::kRequired, "Required value", std::move(field), detail);
}
FieldError forbidden(std::string field, std::string_view detail) {
  return without_value(FieldError::Kind::kForbidden, "Forbidden", std::move(field), detail);
}

FieldError not_supported(std::string field, const json::Value& value,
                         const std::vector<std::string>& supported) {
  std::string detail;
  for (const auto& one : supported)
    detail += (detail.empty() ? "supported values: " : ", ") + quoted(one);
  return with_value(FieldError::Kind::kNotSupported, "Unsupported value", std::move(field), value,
                    detail);
}

FieldError too_long(std::string field, std::int64_t most) {
  return without_value(FieldError::Kind::kTooLong, "Too long", std::move(field),
                       fmt::format("may not be more than {} bytes", most));
}

FieldError too_many(std::string field, std::int64_t actual, std::int64_t most) {
  return with_value(FieldError::Kind::kTooMany, "Too many", std::move(field), actual,
                    fmt::format("must have at most {} item{}", most, most == 1 ? "" : "s"));
}

std::string invalid_message(std::string_view kind, std::string_view name,
                            const FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const auto& error : errors)
    if (auto text = error.text(); std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  const auto head = fmt::format("{} {} is invalid", kind, quoted(name));
  if (texts.empty()) return head;
  if (texts.size() == 1) return fmt::format("{}: {}", head, texts.front());
  return fmt::format("{}: [{}]", head, fmt::join(texts, ", "));
}

json::Array make_causes(const FieldErrors& errors) {
  json::Array causes;
  for (const auto& error : errors)
    causes.push_back(
        json::Object{{"reason", error.reason()}, {"message", error.body}, {"field", error.field}});
  return causes;
}

}  // namespace quorate::apiserver

// The part of builtin_types.h that reads values as Go's decoder does.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "apiserver/builtin_types.h"
#include "base/strings.h"
#include "json/quantity.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

using Special = Schema::Special;
using Type = Schema::Type;

std::string_view json_kind(const json::Value& value) {
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  if (value.is_array()) return "array";
  if (value.is_object()) return "object";
  return "number";
}

bool is_empty(const json::Value& value) {
  if (value.is_null()) return true;
  if (const auto* text = value.if_string()) return text->empty();
  if (const auto* array = value.if_array()) return array->empty();
  if (const auto* object = value.if_object()) return object->empty();
  if (const auto* flag = value.if_bool()) return !*flag;
  return json::equal(value, 0);
}

// Types that are structs in Go: omitempty never leaves them out.
bool is_go_struct(const Schema& schema) {
  return schema.struct_type || schema.int_or_string || schema.special == Special::kQuantity ||
         schema.special == Special::kTime || schema.special == Special::kMicroTime;
}

// The byte at which a text stops being base64, or nothing.
std::optional<std::size_t> find_base64_mistake(std::string_view text) {
  const auto is_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  };
  std::size_t digits = 0, at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '\n' || text[at] == '\r') continue;
    if (!is_digit(text[at])) break;
    ++digits;
  }
  if (at == text.size()) {
    if (digits % 4 == 0) return std::nullopt;
    return at - digits % 4;
  }
  const auto rest = text.substr(at);
  if (digits % 4 == 2 && rest == "==") return std::nullopt;
  if (digits % 4 == 3 && rest == "=") return std::nullopt;
  return at;
}

// "2006-01-02T15:04:05.000000Z07:00" takes exactly six digits.
bool is_micro_time(std::string_view text) {
  constexpr std::size_t kDot = 19, kZone = 26;
  return text.size() > kZone && text[kDot] == '.' &&
         (text[kZone] == 'Z' || text[kZone] == '+' || text[kZone] == '-');
}

// Equal, and written in the same order: cheaper to see than equality.
bool same(const json::Value& a, const json::Value& b) {
  if (a.kind() != b.kind()) return false;
  if (const auto* array = a.if_array())
    return std::equal(array->begin(), array->end(), b.get_array().begin(), b.get_array().end(),
                      same);
  if (const auto* object = a.if_object())
    return std::equal(object->begin(), object->end(), b.get_object().begin(), b.get_object().end(),
                      [](const auto& one, const auto& other) {
                        return one.key() == other.key() && same(one.value(), other.value());
                      });
  return a == b;
}

class Decoder {
 public:
  TypedDecoding out;

  // What Go holds after reading `value`, or its zero value for nullptr and null. `value` is used
  // up.
  json::Value read(json::Value* value, const Schema& schema, const json::Value* known = nullptr) {
    if (value && value->is_null()) value = nullptr;
    if (value && known && same(*value, *known)) return std::move(*value);
    if (schema.struct_type) return read_struct(value, schema, known);
    if (schema.special != Special::kNone) return read_special(value, schema);
    if (schema.int_or_string) return read_int_or_string(value, schema);
    switch (schema.type) {
      case Type::kArray:
        return read_array(value, schema, known);
      case Type::kObject:
        return read_map(value, schema, known);
      case Type::kString:
        return read_scalar(value, schema, "");
      case Type::kBoolean:
        return read_scalar(value, schema, false);
      case Type::kInteger:
        return read_integer(value, schema);
      default:
        return value ? std::move(*value) : json::Value();
    }
  }

 private:
  void wrong(const json::Value& value, std::string_view type, bool with_number = false) {
    std::string text(json_kind(value));
    if (with_number) text += " " + json::render(value);
    if (go_path_.empty())
      complain(fmt::format("json: cannot unmarshal {} into Go value of type {}", text, type));
    else
      complain(fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", text,
                           struct_, fmt::join(go_path_, "."), type));
  }
  void complain(std::string text) {
    if (out.error.empty()) out.error = std::move(text);
  }

  json::Value read_struct(json::Value* value, const Schema& schema, const json::Value* known) {
    auto* object = value ? value->if_object() : nullptr;
    if (value && !object) wrong(*value, schema.name);
    const auto outer =
        std::exchange(struct_, std::string_view(schema.name).substr(schema.name.find('.') + 1));
    if (object)
      for (auto& [key, inner] : *object) read_field(key, inner, schema, member(known, key));
    json::Object written;
    written.reserve(object ? object->size() : 0);
    for (const auto& name : schema.order)
      write_field(name, *schema.find(name), object ? object->if_contains(name) : nullptr, written);
    struct_ = outer;
    return written;
  }

  static const json::Value* member(const json::Value* known, std::string_view key) {
    const auto* object = known ? known->if_object() : nullptr;
    return object ? object->if_contains(key) : nullptr;
  }

  // Reads a field where it stands.
  void read_field(std::string_view key, json::Value& inner, const Schema& schema,
                  const json::Value* known) {
    const Property* property = schema.find(key);
    const auto size = path_.size();
    if (size) path_ += '.';
    path_ += key;
    if (!property) {
      out.unknown.push_back(path_);
    } else if (!inner.is_null()) {
      go_path_.push_back(key);
      inner = read(&inner, *property->schema, known);
      go_path_.pop_back();
    }
    path_.resize(size);
  }

  // `value`: as it was read; null and nullptr were not set.
  void write_field(const std::string& name, const Property& property, json::Value* value,
                   json::Object& written) {
    if (value && value->is_null()) value = nullptr;
    if (property.pointer) {
      if (value)
        written[name] = std::move(*value);
      else if (!property.omit_empty)
        written[name] = nullptr;
      return;
    }
    const bool keeps_empty =
        !property.omit_empty || (is_go_struct(*property.schema) && !property.schema->omit_zero);
    if (value && (keeps_empty || !is_empty(*value)))
      written[name] = std::move(*value);
    else if (!value && keeps_empty)
      written[name] = zero_of(*property.schema);
  }

  // Slices and maps that nobody has set are nil in Go: null.
  json::Value zero_of(const Schema& schema) {
    if (schema.type == Type::kArray || (schema.type == Type::kObject && !schema.struct_type))
      return nullptr;
    return read(nullptr, schema);
  }

  json::Value read_array(json::Value* value, const Schema& schema, const json::Value* known) {
    auto* array = value ? value->if_array() : nullptr;
    if (value && !array) wrong(*value, schema.name);
    if (!array) return json::Array();
    const auto* before = known ? known->if_array() : nullptr;
    for (std::size_t i = 0; i < array->size(); ++i) {
      const auto size = path_.size();
      path_ += fmt::format("[{}]", i);
      auto& element = (*array)[i];
      element =
          read(&element, *schema.items, before && i < before->size() ? &(*before)[i] : nullptr);
      path_.resize(size);
    }
    return std::move(*array);
  }

  json::Value read_map(json::Value* value, const Schema& schema, const json::Value* known) {
    auto* object = value ? value->if_object() : nullptr;
    if (value && !object) wrong(*value, schema.name);
    if (!object) return json::Object();
    for (auto& [key, inner] : *object) {
      const auto size = path_.size();
      path_ += '.';
      path_ += std::string_view(key);
      inner = read(&inner, *schema.additional_properties, member(known, key));
      path_.resize(size);
    }
    return std::move(*object);
  }

  json::Value read_scalar(json::Value* value, const Schema& schema, json::Value zero) {
    if (!value) return zero;
    if (value->kind() == zero.kind()) return std::move(*value);
    wrong(*value, schema.name);
    return zero;
  }

  json::Value read_integer(const json::Value* value, const Schema& schema) {
    if (!value) return 0;
    if (!value->is_number()) {
      wrong(*value, schema.name);
      return 0;
    }
    boost::system::error_code beyond;
    const auto whole = value->is_double() ? 0 : value->to_number<std::int64_t>(beyond);
    const bool fits =
        !value->is_double() && !beyond &&
        (schema.format != "int32" || (whole >= std::numeric_limits<std::int32_t>::min() &&
                                      whole <= std::numeric_limits<std::int32_t>::max()));
    if (fits) return whole;
    wrong(*value, schema.name, true);
    return 0;
  }

  json::Value read_int_or_string(json::Value* value, const Schema&) {
    if (!value) return 0;
    if (value->is_string()) return std::move(*value);
    Schema number;
    number.format = "int32";
    number.name = "int32";
    return read_integer(value, number);
  }

  json::Value read_special(json::Value* value, const Schema& schema) {
    switch (schema.special) {
      case Special::kQuantity:
        return read_quantity(value);
      case Special::kTime:
      case Special::kMicroTime:
        return read_time(value, schema.special == Special::kMicroTime);
      case Special::kBytes:
        return read_bytes(value, schema);
      default:
        return value ? std::move(*value) : json::Value();
    }
  }

  json::Value read_quantity(const json::Value* value) {
    if (!value) return "0";
    auto quantity = json::Quantity::from_json(*value);
    if (quantity) return json::Value(quantity->text());
    complain(
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    return "0";
  }

  json::Value read_time(const json::Value* value, bool micro) {
    if (!value) return nullptr;
    if (!value->is_string()) {
      wrong(*value, "string");
      return nullptr;
    }
    const std::string_view text = value->get_string();
    if (micro) {
      if (const auto time = json::parse_micro_time(text); time && is_micro_time(text))
        return json::Value(json::render_micro_time(*time));
    } else if (const auto time = json::parse_time(text)) {
      return json::Value(json::render_time(*time));
    }
    complain_of_time(text, micro);
    return nullptr;
  }

  // Go says which part it could not read; ours names the first that is wrong as far as it is plain.
  void complain_of_time(std::string_view text, bool micro) {
    const std::string_view layout =
        micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
    std::string_view rest = text, part = "2006";
    if (micro && json::parse_micro_time(text)) {
      const bool fraction = text.size() > 19 && text[19] == '.';
      rest = text.substr(fraction ? std::min<std::size_t>(26, text.size()) : 19);
      part = fraction ? "Z07:00" : ".000000";
    }
    complain(fmt::format("parsing time {} as {}: cannot parse {} as {}", quoted(text),
                         quoted(layout), quoted(rest), quoted(part)));
  }

  json::Value read_bytes(json::Value* value, const Schema& schema) {
    if (!value) return "";
    if (!value->is_string()) {
      wrong(*value, schema.name);
      return "";
    }
    if (const auto mistake = find_base64_mistake(value->get_string())) {
      complain(fmt::format("illegal base64 data at input byte {}", *mistake));
      return "";
    }
    return std::move(*value);
  }

  std::string path_;                       // spec.containers[0].name
  std::vector<std::string_view> go_path_;  // spec, containers, name
  std::string_view struct_;                // the innermost: Container
};

}  // namespace

TypedDecoding decode_typed(json::Value& value, const Schema& schema, const json::Value* known) {
  Decoder decoder;
  value = decoder.read(&value, schema, known);
  return std::move(decoder.out);
}

}  // namespace quorate::apiserver

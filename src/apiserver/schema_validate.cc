// The part of schema.h that finds what is wrong with a value.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "apiserver/schema.h"
#include "apiserver/schema_pattern.h"
#include "apiserver/schema_rules.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

using Type = Schema::Type;

std::string child(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

bool is_whole(const json::Value& value) {
  return value.is_double() && std::trunc(value.get_double()) == value.get_double() &&
         std::abs(value.get_double()) < 9.2e18;
}

// The name of a value's type as the real server says it.
std::string_view type_name(const json::Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "boolean";
    case boost::json::kind::int64:
      return "integer";
    case boost::json::kind::uint64:
      return "number";  // beyond int64
    case boost::json::kind::double_:
      return is_whole(value) ? "integer" : "number";
    case boost::json::kind::string:
      return "string";
    case boost::json::kind::array:
      return "array";
    case boost::json::kind::object:
      return "object";
  }
  return "null";
}

bool is_base64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  const auto padding = text.ends_with("==") ? 2U : text.ends_with("=") ? 1U : 0U;
  return std::all_of(text.begin(), text.end() - padding, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  });
}

std::int64_t runes(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

// The element of the old list that this one can be compared with: by keys in a map, else none.
const json::Value* counterpart(const json::Value& element, const Schema& schema,
                               const json::Value* old) {
  if (!old || !old->is_array() || schema.topology != Schema::Topology::kMap) return nullptr;
  for (const auto& candidate : old->get_array()) {
    const bool same =
        std::all_of(schema.map_keys.begin(), schema.map_keys.end(), [&](const std::string& key) {
          const auto pointer = "/" + json::escape_pointer(key);
          const auto* a = json::find(element, pointer);
          const auto* b = json::find(candidate, pointer);
          return a && b ? json::equal(*a, *b) : a == b;
        });
    if (same) return &candidate;
  }
  return nullptr;
}

const json::Value* old_member(const json::Value* old, std::string_view key) {
  const auto* object = old ? old->if_object() : nullptr;
  return object ? object->if_contains(key) : nullptr;
}

class Validator {
 public:
  FieldErrors errors;

  void visit(const json::Value& value, const Schema& schema, const json::Value* old,
             const std::string& path) {
    if (old && json::equal(value, *old)) return;  // ratcheting: it stood there before
    if (value.is_null() && (schema.nullable || schema.type == Type::kAny)) return;
    if (!check_type(value, schema, path)) return;
    check_enumeration(value, schema, path);
    if (value.is_string()) check_text(value, schema, path);
    if (value.is_number()) check_number(value, schema, path);
    if (const auto* array = value.if_array()) check_array(*array, schema, old, path);
    if (const auto* object = value.if_object()) check_object(*object, schema, old, path);
  }

 private:
  bool check_type(const json::Value& value, const Schema& schema, const std::string& path) {
    const auto seen = type_name(value);
    if (schema.int_or_string) {
      if (seen == "integer" || seen == "string") return true;
      const auto wrong = [&](std::string_view wanted) {
        errors.push_back(
            type_invalid(path, json::Value(seen),
                         fmt::format("{} in body must be of type {}: \"{}\"", path, wanted, seen)));
      };
      wrong("integer,string");
      errors.push_back(invalid_value(
          "<nil>", "", fmt::format("\"{}\" must validate at least one schema (anyOf)", path)));
      wrong("integer");
      return false;
    }
    const auto wanted = type_text(schema.type);
    if (wanted.empty() || wanted == seen) return true;
    if (schema.type == Type::kNumber && seen == "integer") return true;
    errors.push_back(
        type_invalid(path, json::Value(seen),
                     fmt::format("{} in body must be of type {}: \"{}\"", path, wanted, seen)));
    return false;
  }

  void check_enumeration(const json::Value& value, const Schema& schema, const std::string& path) {
    if (schema.enumeration.empty()) return;
    std::vector<std::string> supported;
    for (const auto& one : schema.enumeration) {
      if (json::equal(one, value)) return;
      supported.push_back(one.is_string() ? std::string(one.get_string()) : json::render(one));
    }
    errors.push_back(not_supported(path, value, supported));
  }

  void check_text(const json::Value& value, const Schema& schema, const std::string& path) {
    const std::string_view text = value.get_string();
    if (schema.max_length && runes(text) > *schema.max_length) {
      errors.push_back(too_long(path, *schema.max_length));
    } else if (schema.min_length && runes(text) < *schema.min_length) {
      errors.push_back(invalid_value(
          path, value,
          fmt::format("{} in body should be at least {} chars long", path, *schema.min_length)));
    } else if (schema.pattern && !schema.pattern->matches(text)) {
      errors.push_back(invalid_value(
          path, value, fmt::format("{} in body should match '{}'", path, schema.pattern->text())));
    }
    const bool well_formed =
        (schema.format != "date-time" || json::parse_time(text)) &&
        (schema.format != "date" || json::parse_time(std::string(text) + "T00:00:00Z")) &&
        (schema.format != "byte" || is_base64(text));
    if (!well_formed)
      errors.push_back(type_invalid(
          path, value,
          fmt::format("{} in body must be of type {}: {}", path, schema.format, quoted(text))));
  }

  void check_number(const json::Value& value, const Schema& schema, const std::string& path) {
    boost::system::error_code ignored;
    const double number = value.to_number<double>(ignored);
    const auto wrong = [&](std::string text) {
      errors.push_back(invalid_value(path, value, text));
    };
    if (schema.multiple_of) check_multiple(value, number, *schema.multiple_of, path);
    if (schema.minimum) {
      if (schema.exclusive_minimum && number <= *schema.minimum)
        wrong(fmt::format("{} in body should be greater than {}", path, *schema.minimum));
      if (!schema.exclusive_minimum && number < *schema.minimum)
        wrong(
            fmt::format("{} in body should be greater than or equal to {}", path, *schema.minimum));
    }
    if (schema.maximum) {
      if (schema.exclusive_maximum && number >= *schema.maximum)
        wrong(fmt::format("{} in body should be less than {}", path, *schema.maximum));
      if (!schema.exclusive_maximum && number > *schema.maximum)
        wrong(fmt::format("{} in body should be less than or equal to {}", path, *schema.maximum));
    }
  }

  // The real server cuts the factor to an integer for integers.
  void check_multiple(const json::Value& value, double number, double factor,
                      const std::string& path) {
    if (!value.is_double()) factor = std::trunc(factor);
    if (factor <= 0) {
      errors.push_back(invalid_value(
          path, factor == 0 ? json::Value(0) : json::Value(factor),
          fmt::format("factor MultipleOf declared for {} must be positive: {}", path, factor)));
      return;
    }
    const double quotient = number / factor;
    if (quotient != std::trunc(quotient))
      errors.push_back(invalid_value(
          path, value, fmt::format("{} in body should be a multiple of {}", path, factor)));
  }

  void check_array(const json::Array& array, const Schema& schema, const json::Value* old,
                   const std::string& path) {
    const auto size = static_cast<std::int64_t>(array.size());
    if (schema.min_items && size < *schema.min_items)
      errors.push_back(invalid_value(
          path, size,
          fmt::format("{} in body should have at least {} items", path, *schema.min_items)));
    if (schema.max_items && size > *schema.max_items)
      errors.push_back(too_many(path, size, *schema.max_items));
    if (!schema.items) return;
    for (std::size_t i = 0; i < array.size(); ++i)
      visit(array[i], *schema.items, counterpart(array[i], schema, old),
            fmt::format("{}[{}]", path, i));
  }

  void check_object(const json::Object& object, const Schema& schema, const json::Value* old,
                    const std::string& path) {
    const auto size = static_cast<std::int64_t>(object.size());
    if (schema.min_properties && size < *schema.min_properties)
      errors.push_back(invalid_value(path, size,
                                     fmt::format("{} in body should have at least {} properties",
                                                 path, *schema.min_properties)));
    if (schema.max_properties && size > *schema.max_properties)
      errors.push_back(too_many(path, size, *schema.max_properties));
    for (const auto& name : schema.required)
      if (!object.contains(name)) errors.push_back(required_value(child(path, name)));
    for (const auto& [key, inner] : object) {
      const Property* property = schema.find(key);
      const Schema* declared =
          property ? property->schema.get() : schema.additional_properties.get();
      if (!declared) continue;
      visit(inner, *declared, old_member(old, key), child(path, key));
    }
  }
};

// Asks the rules of every value that has some, the outer ones first.
class RuleChecker {
 public:
  FieldErrors errors;

  void visit(const json::Value& value, const Schema& schema, const json::Value* old,
             const std::string& path) {
    if (value.is_null()) return;
    const bool unchanged = old && json::equal(value, *old);
    for (const auto& rule : schema.rules)
      if (!unchanged || rule->is_transition()) check(*rule, value, schema, old, path);
    if (const auto* array = value.if_array()) {
      for (std::size_t i = 0; schema.items && i < array->size(); ++i)
        visit((*array)[i], *schema.items, counterpart((*array)[i], schema, old),
              fmt::format("{}[{}]", path, i));
    } else if (const auto* object = value.if_object()) {
      for (const auto& [key, inner] : *object) {
        const Property* property = schema.find(key);
        const Schema* declared =
            property ? property->schema.get() : schema.additional_properties.get();
        if (declared) visit(inner, *declared, old_member(old, key), child(path, key));
      }
    }
  }

 private:
  void check(const CelRule& rule, const json::Value& value, const Schema& schema,
             const json::Value* old, const std::string& path) {
    const auto outcome = rule.holds(value, old);
    if (outcome && *outcome) return;
    const auto message =
        outcome ? rule.message()
                : fmt::format("{} evaluating rule: {}", outcome.error().message(), rule.message());
    errors.push_back(invalid_value(path.empty() ? "<nil>" : path,
                                   json::Value(schema.int_or_string ? "" : type_text(schema.type)),
                                   message));
  }
};

// Finds elements that stand twice in lists of type set or map.
class ListChecker {
 public:
  FieldErrors errors;

  void visit(const json::Value& value, const Schema& schema, const std::string& path) {
    if (const auto* array = value.if_array()) {
      if (schema.topology == Schema::Topology::kSet) check(*array, nullptr, path);
      if (schema.topology == Schema::Topology::kMap) check(*array, &schema, path);
      for (std::size_t i = 0; schema.items && i < array->size(); ++i)
        visit((*array)[i], *schema.items, fmt::format("{}[{}]", path, i));
    } else if (const auto* object = value.if_object()) {
      for (const auto& [key, inner] : *object) {
        if (const Property* property = schema.find(key))
          visit(inner, *property->schema, child(path, key));
        else if (schema.additional_properties)
          visit(inner, *schema.additional_properties,
                fmt::format("{}[{}]", path, std::string_view(key)));
      }
    }
  }

 private:
  void check(const json::Array& array, const Schema* keyed, const std::string& path) {
    std::map<std::string, int> seen;
    for (std::size_t i = 0; i < array.size(); ++i) {
      json::Value identity = array[i];
      if (keyed) {
        if (!array[i].is_object() && !array[i].is_null()) {
          errors.push_back(invalid_value(fmt::format("{}[{}]", path, i), array[i],
                                         "must be an object for an array of list-type map"));
          return;
        }
        identity = keys_of(array[i], *keyed);
      }
      if (++seen[json::render_sorted(identity)] == 2)
        errors.push_back(duplicate_value(fmt::format("{}[{}]", path, i), identity));
    }
  }

  static json::Value keys_of(const json::Value& element, const Schema& schema) {
    json::Object keys;
    const auto* object = element.if_object();
    for (const auto& key : schema.map_keys)
      if (const auto* part = object ? object->if_contains(key) : nullptr) keys[key] = *part;
    return keys;
  }
};

}  // namespace

FieldErrors validate_schema(const json::Value& value, const Schema& schema,
                            const json::Value* old) {
  Validator validator;
  validator.visit(value, schema, old, "");
  return std::move(validator.errors);
}

FieldErrors validate_rules(const json::Value& value, const Schema& schema, const json::Value* old) {
  RuleChecker checker;
  checker.visit(value, schema, old, "");
  return std::move(checker.errors);
}

FieldErrors validate_list_types(const json::Value& value, const Schema& schema) {
  ListChecker checker;
  checker.visit(value, schema, "");
  return std::move(checker.errors);
}

}  // namespace quorate::apiserver

// The part of managed_fields_typed.h that looks whether a value fits its schema.

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "apiserver/managed_fields_shape.h"
#include "apiserver/managed_fields_typed.h"

namespace quorate::apiserver {

namespace {

using Path = std::vector<PathElement>;
using Type = Schema::Type;

// Go's words for a value and for its type.
std::string go_value(const json::Value& value) {
  if (value.is_string()) return quoted(value.get_string());
  return json::render(value);
}
std::string go_plain(const json::Value& value) {
  return value.is_string() ? std::string(value.get_string()) : go_value(value);
}
std::string_view go_type(const json::Value& value) {
  switch (value.kind()) {
    case boost::json::kind::string:
      return "string";
    case boost::json::kind::bool_:
      return "bool";
    case boost::json::kind::array:
      return "[]interface {}";
    case boost::json::kind::object:
      return "map[string]interface {}";
    case boost::json::kind::double_:
      return "float64";
    default:
      return "int64";
  }
}

class Fitter {
 public:
  std::optional<std::string> visit(const json::Value& value, const Schema& schema) {
    if (value.is_null()) return std::nullopt;
    switch (shape_of(schema, &value)) {
      case Shape::kScalar:
        return visit_scalar(value, schema);
      case Shape::kList:
        return visit_list(value, schema);
      case Shape::kMap:
        return visit_map(value, schema);
    }
    return std::nullopt;
  }

 private:
  std::string at(std::string_view message) const {
    std::string out;
    for (const auto& element : path_) out += element.pretty();
    return fmt::format("{}: {}", out, message);
  }

  std::optional<std::string> visit_scalar(const json::Value& value, const Schema& schema) {
    const bool special = schema.int_or_string || schema.special == Schema::Special::kQuantity ||
                         schema.special == Schema::Special::kTime ||
                         schema.special == Schema::Special::kMicroTime || schema.type == Type::kAny;
    if (special) {
      if (!value.is_structured()) return std::nullopt;
      return at(fmt::format("expected any scalar, got &{{{}}}", go_value(value)));
    }
    if (schema.type == Type::kString && !value.is_string())
      return at(fmt::format("expected string, got &value.valueUnstructured{{Value:{}}}",
                            go_value(value)));
    if (schema.type == Type::kBoolean && !value.is_bool())
      return at(fmt::format("expected boolean, got &{{{}}}", go_plain(value)));
    if ((schema.type == Type::kInteger || schema.type == Type::kNumber) && !value.is_number())
      return at(fmt::format("expected numeric (int or float), got {}", go_type(value)));
    return std::nullopt;
  }

  std::optional<std::string> visit_list(const json::Value& value, const Schema& schema) {
    const auto* array = value.if_array();
    if (!array) return at(fmt::format("expected list, got &{{{}}}", go_plain(value)));
    const bool named = !is_atomic(schema, Shape::kList);
    std::set<PathElement> seen;
    for (std::size_t i = 0; i < array->size(); ++i) {
      auto name = PathElement{PathElement::Kind::kIndex, std::to_string(i)};
      if (named) {
        std::string problem;
        const auto found = name_of((*array)[i], schema, &problem);
        if (!found) return at(fmt::format("element {}: {}", i, problem));
        name = *found;
        if (!seen.insert(name).second) return at("duplicate entries for key " + name.pretty());
      }
      path_.push_back(std::move(name));
      auto misfit = visit((*array)[i], element_of(schema));
      path_.pop_back();
      if (misfit) return misfit;
    }
    return std::nullopt;
  }

  std::optional<std::string> visit_map(const json::Value& value, const Schema& schema) {
    const auto* object = value.if_object();
    if (!object) return at(fmt::format("expected map, got &{{{}}}", go_plain(value)));
    const bool open = schema.additional_properties || schema.additional_properties_any ||
                      schema.preserve_unknown_fields || schema.type == Type::kAny;
    for (const auto& [key, inner] : *object) {
      path_.push_back(PathElement::field(key));
      const Property* property = schema.find(key);
      if (!property && !open) return at("field not declared in schema");
      auto misfit = visit(inner, member_of(schema, key));
      path_.pop_back();
      if (misfit) return misfit;
    }
    return std::nullopt;
  }

  Path path_;
};

}  // namespace

std::optional<std::string> find_misfit(const json::Value& value, const Schema& schema) {
  return Fitter().visit(value, schema);
}

}  // namespace quorate::apiserver

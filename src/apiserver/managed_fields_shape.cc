#include "apiserver/managed_fields_shape.h"

#include <fmt/format.h>

#include <utility>

namespace quorate::apiserver {

namespace {

using Topology = Schema::Topology;
using Type = Schema::Type;

}  // namespace

const Schema& undeclared() {
  static const Schema kUndeclared;
  return kUndeclared;
}

Shape shape_of(const Schema& schema, const json::Value* value) {
  switch (schema.type) {
    case Type::kObject:
      return Shape::kMap;
    case Type::kArray:
      return Shape::kList;
    case Type::kAny:
      break;
    default:
      return Shape::kScalar;
  }
  if (schema.int_or_string || schema.special != Schema::Special::kNone) return Shape::kScalar;
  if (value && value->is_object()) return Shape::kMap;
  if (value && value->is_array()) return Shape::kList;
  return Shape::kScalar;
}

bool is_atomic(const Schema& schema, Shape shape) {
  if (shape == Shape::kMap) return schema.topology == Topology::kAtomic;
  return schema.topology != Topology::kSet && schema.topology != Topology::kMap;
}

const Schema& member_of(const Schema& schema, std::string_view key) {
  if (const Property* property = schema.find(key)) return *property->schema;
  return schema.additional_properties ? *schema.additional_properties : undeclared();
}

const Schema& element_of(const Schema& schema) {
  return schema.items ? *schema.items : undeclared();
}

std::optional<PathElement> name_of(const json::Value& element, const Schema& list,
                                   std::string* problem) {
  const auto wrong = [&](std::string text) -> std::optional<PathElement> {
    if (problem) *problem = std::move(text);
    return std::nullopt;
  };
  if (list.topology == Topology::kSet) {
    if (element.is_object())
      return wrong("associative list without keys has an element that's a map type");
    if (element.is_array()) return wrong("not supported: associative list with lists as elements");
    if (element.is_null())
      return wrong("associative list without keys has an element that's an explicit null");
    return PathElement::value(element);
  }
  if (element.is_null()) return wrong("associative list with keys may not have a null element");
  const auto* object = element.if_object();
  if (!object) return wrong("associative list with keys may not have non-map elements");
  json::Object keys;
  for (const auto& key : list.map_keys) {
    const auto& declared = member_of(element_of(list), key);
    if (const auto* value = object->if_contains(key))
      keys[key] = *value;
    else if (declared.default_value)
      keys[key] = *declared.default_value;
  }
  if (keys.empty()) {
    std::vector<std::string> names;
    for (const auto& key : list.map_keys) names.push_back(quoted(key));
    return wrong(
        fmt::format("associative list with keys has an element that omits all key fields "
                    "[{}] (and doesn't have default values for any key fields)",
                    fmt::join(names, " ")));
  }
  return PathElement::key(keys);
}

}  // namespace quorate::apiserver

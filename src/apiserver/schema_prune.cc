// The parts of schema.h that change an object: pruning and defaults.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apiserver/schema.h"

namespace quorate::apiserver {

namespace {

std::string child(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

class Pruner {
 public:
  std::vector<std::string> pruned;

  // `schema` is nullptr below what is kept as it is.
  void visit(json::Value& value, const Schema* schema, const std::string& path, bool resource) {
    if (!schema) return;
    if (auto* array = value.if_array()) {
      for (std::size_t i = 0; i < array->size(); ++i)
        visit((*array)[i], element_of(*schema), fmt::format("{}[{}]", path, i), false);
    } else if (auto* object = value.if_object()) {
      visit_object(*object, *schema, path, resource || schema->embedded_resource);
    }
  }

 private:
  // Elements of what is not declared as a list have no declaration: all of their fields go.
  static const Schema* element_of(const Schema& schema) {
    static const Schema kNothing;
    return schema.items ? schema.items.get()
                        : (schema.preserve_unknown_fields ? nullptr : &kNothing);
  }

  void visit_object(json::Object& object, const Schema& schema, const std::string& path,
                    bool resource) {
    std::vector<std::string> doomed;
    for (auto& [key, inner] : object) {
      if (resource && (key == "apiVersion" || key == "kind" || key == "metadata")) continue;
      const auto here = child(path, key);
      if (const Property* property = schema.find(key))
        visit(inner, property->schema.get(), here, false);
      else if (schema.additional_properties)
        visit(inner, schema.additional_properties.get(), here, false);
      else if (!schema.preserve_unknown_fields && !schema.additional_properties_any)
        doomed.emplace_back(key);
    }
    for (const auto& key : doomed) {
      pruned.push_back(child(path, key));
      object.stable_erase(key);
    }
  }
};

bool is_unwanted_null(const json::Value& value, const Schema& schema) {
  return value.is_null() && !schema.nullable && schema.type != Schema::Type::kAny;
}

const Schema* member_schema(const Schema& schema, std::string_view key) {
  if (const Property* property = schema.find(key)) return property->schema.get();
  return schema.additional_properties.get();
}

void fill_missing(json::Object& object, const Schema& schema) {
  for (const auto& name : schema.order) {
    const Schema& inner = *schema.find(name)->schema;
    if (!inner.default_value) continue;
    const json::Value* there = object.if_contains(name);
    if (!there || is_unwanted_null(*there, inner)) object[name] = *inner.default_value;
  }
}

}  // namespace

std::vector<std::string> prune(json::Value& object, const Schema& schema) {
  Pruner pruner;
  pruner.visit(object, &schema, "", true);
  std::sort(pruner.pruned.begin(), pruner.pruned.end());
  return std::move(pruner.pruned);
}

void apply_schema_defaults(json::Value& value, const Schema& schema) {
  if (auto* array = value.if_array(); array && schema.items) {
    for (auto& element : *array) {
      if (is_unwanted_null(element, *schema.items) && schema.items->default_value)
        element = *schema.items->default_value;
      apply_schema_defaults(element, *schema.items);
    }
    return;
  }
  auto* object = value.if_object();
  if (!object) return;
  fill_missing(*object, schema);
  for (auto member = object->begin(); member != object->end();) {
    const Schema* inner = member_schema(schema, member->key());
    if (inner && is_unwanted_null(member->value(), *inner)) {
      member = object->stable_erase(member);  // a null that cannot stand means absent
      continue;
    }
    if (inner) apply_schema_defaults(member->value(), *inner);
    ++member;
  }
}

}  // namespace quorate::apiserver

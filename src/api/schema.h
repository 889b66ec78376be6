#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/cluster_fields.h"
#include "api/encoder.h"
#include "api/member_fields.h"
#include "json/document.h"

// Turns described types into OpenAPI schemas as Kubernetes wants them (structural).
namespace quorate::api {

json::Object make_text_schema(const TextRule* rule);
void put_rules(json::Object& schema, std::span<const CelRule> rules);

// The schema of one type of value, without what its field adds.
template <class F>
struct SchemaOf {
  static json::Object make();  // an object: by its description
};
template <>
struct SchemaOf<bool> {
  static json::Object make() { return {{"type", "boolean"}}; }
};
template <>
struct SchemaOf<int> {
  static json::Object make() { return {{"type", "integer"}, {"format", "int32"}}; }
};
template <>
struct SchemaOf<std::int64_t> {
  static json::Object make() { return {{"type", "integer"}, {"format", "int64"}}; }
};
template <>
struct SchemaOf<Ordinal> : SchemaOf<int> {};
template <>
struct SchemaOf<std::string> {
  static json::Object make() { return make_text_schema(nullptr); }
};
template <>
struct SchemaOf<Uid> : SchemaOf<std::string> {};
template <>
struct SchemaOf<EtcdVersion> {
  static json::Object make() { return make_text_schema(&kVersionRule); }
};
template <>
struct SchemaOf<ClusterId> {
  static json::Object make() { return make_text_schema(&kHexIdRule); }
};
template <>
struct SchemaOf<MemberId> : SchemaOf<ClusterId> {};
template <>
struct SchemaOf<WallTime> {
  static json::Object make() { return {{"type", "string"}, {"format", "date-time"}}; }
};
template <>
struct SchemaOf<Span> {
  static json::Object make() { return make_text_schema(&kSpanRule); }
};
template <>
struct SchemaOf<Quantity> {
  static json::Object make() {
    return {
        {"anyOf", json::Array{json::Object{{"type", "integer"}}, json::Object{{"type", "string"}}}},
        {"pattern", kQuantityRule.pattern},
        {"maxLength", kQuantityRule.max_length},
        {"x-kubernetes-int-or-string", true}};
  }
};
template <>
struct SchemaOf<TextTable> {
  static json::Object make() {
    return {{"type", "object"}, {"additionalProperties", json::Object{{"type", "string"}}}};
  }
};
template <>
struct SchemaOf<RawObject> {
  static json::Object make() {
    return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  }
};
template <NamedEnum E>
struct SchemaOf<E> {
  static json::Object make() {
    json::Array names;
    for (const auto& [value, name] : EnumNames<E>::kNames) names.emplace_back(name);
    return {{"type", "string"}, {"enum", std::move(names)}};
  }
};
template <class F>
struct SchemaOf<std::optional<F>> : SchemaOf<F> {};
template <class F>
struct SchemaOf<std::vector<F>> {
  static json::Object make() { return {{"type", "array"}, {"items", SchemaOf<F>::make()}}; }
};

// Adds to a value's schema what its field says of it.
void put_about(json::Object& schema, const About& about);

template <class T>
class FieldSchemas {
 public:
  explicit FieldSchemas(json::Object& schema) : schema_(schema) {}

  void type(std::string_view text) { schema_["description"] = text; }
  void rule(const CelRule& rule) { put_rules(schema_, {&rule, 1}); }

  template <class F>
  void field(const About& about, F T::*member) {
    auto one = SchemaOf<F>::make();
    put_about(one, about);
    if constexpr (!IsOptional<F>::value)
      if (about.defaulted) one["default"] = encode_value(T{}.*member);
    if (about.required) {
      auto& required = schema_["required"];
      if (!required.is_array()) required = json::Array();
      required.get_array().emplace_back(about.name);
    }
    auto& properties = schema_["properties"];
    if (!properties.is_object()) properties = json::Object();
    properties.get_object()[about.name] = std::move(one);
  }

  template <class F>
  void flat(F T::*) {
    FieldSchemas<F> inner(schema_);
    describe(inner, static_cast<const F*>(nullptr));
  }

 private:
  json::Object& schema_;
};

template <class F>
json::Object SchemaOf<F>::make() {
  json::Object schema{{"type", "object"}};
  FieldSchemas<F> fields(schema);
  describe(fields, static_cast<const F*>(nullptr));
  return schema;
}

}  // namespace quorate::api

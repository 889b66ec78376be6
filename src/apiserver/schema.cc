#include "apiserver/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "apiserver/schema_pattern.h"
#include "apiserver/schema_rules.h"

namespace quorate::apiserver {

namespace {

tl::unexpected<Error> invalid(std::string_view path, std::string message) {
  return fail(Error(Code::kInvalid, std::move(message)).in(path.empty() ? "schema" : path));
}

Result<Schema::Type> type_of(std::string_view text) {
  using Type = Schema::Type;
  if (text == "object") return Type::kObject;
  if (text == "array") return Type::kArray;
  if (text == "string") return Type::kString;
  if (text == "integer") return Type::kInteger;
  if (text == "number") return Type::kNumber;
  if (text == "boolean") return Type::kBoolean;
  return fail(Code::kInvalid, fmt::format("type \"{}\" is not known", text));
}

bool is_known_format(std::string_view format) {
  constexpr std::array<std::string_view, 8> kFormats = {"int32", "int64",     "float", "double",
                                                        "byte",  "date-time", "date",  "password"};
  return std::find(kFormats.begin(), kFormats.end(), format) != kFormats.end();
}

// The only use of anyOf that a structural schema for us has: an integer or a string.
bool is_int_or_string(const json::Value& any_of) {
  return json::equal(
      any_of, json::Array{json::Object{{"type", "integer"}}, json::Object{{"type", "string"}}});
}

Result<SchemaRef> parse_at(const json::Value& openapi, const std::string& path);

// Keywords one by one: what is not read is refused.
class Parser {
 public:
  Parser(const std::string& path, Schema& schema) : path_(path), schema_(schema) {}

  Result<void> read(std::string_view key, const json::Value& value) {
    TRY(const bool of_value, read_value_keyword(key, value));
    if (of_value) return {};
    TRY(const bool of_structure, read_structure_keyword(key, value));
    if (of_structure) return {};
    if (key.starts_with("x-kubernetes-")) return read_extension(key, value);
    return invalid(path_, fmt::format("keyword {} is not known", key));
  }

 private:
  Result<bool> read_value_keyword(std::string_view key, const json::Value& value) {
    if (key == "description" || key == "title" || key == "example" || key == "externalDocs")
      return true;
    if (key == "type") return set_type(value);
    if (key == "format") {
      if (!value.is_string() || !is_known_format(value.get_string()))
        return invalid(path_, "format " + json::render(value) + " is not held here");
      schema_.format = value.get_string();
    } else if (key == "nullable") {
      schema_.nullable = value == true;
    } else if (key == "default") {
      schema_.default_value = value;
    } else if (key == "enum") {
      if (!value.is_array()) return invalid(path_, "enum is no list");
      schema_.enumeration = value.get_array();
    } else if (key == "pattern") {
      if (!value.is_string()) return invalid(path_, "pattern is no text");
      TRY(schema_.pattern, in(path_, Pattern::parse(value.get_string())));
    } else if (key == "minimum") {
      return set(schema_.minimum, value);
    } else if (key == "maximum") {
      return set(schema_.maximum, value);
    } else if (key == "multipleOf") {
      return set(schema_.multiple_of, value);
    } else if (key == "exclusiveMinimum") {
      schema_.exclusive_minimum = value == true;
    } else if (key == "exclusiveMaximum") {
      schema_.exclusive_maximum = value == true;
    } else if (key == "minLength") {
      return set(schema_.min_length, value);
    } else if (key == "maxLength") {
      return set(schema_.max_length, value);
    } else {
      return false;
    }
    return true;
  }

  Result<bool> read_structure_keyword(std::string_view key, const json::Value& value) {
    if (key == "properties") return set_properties(value);
    if (key == "additionalProperties") {
      if (value.is_bool()) {
        schema_.additional_properties_any = value.get_bool();
        return true;
      }
      TRY(schema_.additional_properties, parse_at(value, path_ + ".additionalProperties"));
    } else if (key == "items") {
      TRY(schema_.items, parse_at(value, path_ + ".items"));
    } else if (key == "required") {
      if (!value.is_array()) return invalid(path_, "required is no list");
      for (const auto& name : value.get_array())
        if (name.is_string()) schema_.required.emplace_back(name.get_string());
    } else if (key == "minItems") {
      return set(schema_.min_items, value);
    } else if (key == "maxItems") {
      return set(schema_.max_items, value);
    } else if (key == "minProperties") {
      return set(schema_.min_properties, value);
    } else if (key == "maxProperties") {
      return set(schema_.max_properties, value);
    } else if (key == "anyOf") {
      if (!is_int_or_string(value)) return invalid(path_, "anyOf is held for int-or-string alone");
    } else {
      return false;
    }
    return true;
  }

  Result<void> read_extension(std::string_view key, const json::Value& value) {
    if (key == "x-kubernetes-validations") return add_rules(value);
    if (key == "x-kubernetes-int-or-string") {
      schema_.int_or_string = value == true;
    } else if (key == "x-kubernetes-preserve-unknown-fields") {
      schema_.preserve_unknown_fields = value == true;
    } else if (key == "x-kubernetes-embedded-resource") {
      schema_.embedded_resource = value == true;
    } else if (key == "x-kubernetes-map-type") {
      schema_.topology = value == "atomic" ? Schema::Topology::kAtomic : schema_.topology;
    } else if (key == "x-kubernetes-list-type") {
      if (value == "map")
        schema_.topology = Schema::Topology::kMap;
      else if (value == "set")
        schema_.topology = Schema::Topology::kSet;
      else
        schema_.topology = Schema::Topology::kAtomic;
    } else if (key == "x-kubernetes-list-map-keys") {
      if (!value.is_array()) return invalid(path_, "list-map-keys is no list");
      for (const auto& name : value.get_array())
        if (name.is_string()) schema_.map_keys.emplace_back(name.get_string());
    } else {
      return invalid(path_, fmt::format("keyword {} is not known", key));
    }
    return {};
  }

  Result<void> add_rules(const json::Value& value) {
    if (!value.is_array()) return invalid(path_, "rules are no list");
    for (const auto& item : value.get_array()) {
      TRY(auto rule, in(path_, CelRule::parse(json::text_or(item, "/rule", ""),
                                              json::text_or(item, "/message", ""))));
      schema_.rules.push_back(std::move(rule));
    }
    return {};
  }

  Result<bool> set_type(const json::Value& value) {
    if (!value.is_string()) return invalid(path_, "type is no text");
    TRY(schema_.type, in(path_, type_of(value.get_string())));
    return true;
  }

  Result<bool> set_properties(const json::Value& value) {
    if (!value.is_object()) return invalid(path_, "properties is no object");
    for (const auto& [name, inner] : value.get_object()) {
      TRY(auto parsed,
          parse_at(inner, path_.empty() ? std::string(name)
                                        : fmt::format("{}.{}", path_, std::string_view(name))));
      schema_.order.emplace_back(name);
      schema_.properties.emplace(std::string(name), Property{std::move(parsed)});
    }
    return true;
  }

  template <class T>
  Result<bool> set(std::optional<T>& field, const json::Value& value) {
    boost::system::error_code wrong;
    const auto number = value.to_number<T>(wrong);
    if (wrong) return invalid(path_, "expected a number, found " + json::render(value));
    field = number;
    return true;
  }

  const std::string& path_;
  Schema& schema_;
};

Result<SchemaRef> parse_at(const json::Value& openapi, const std::string& path) {
  if (!openapi.is_object()) return invalid(path, "expected an object");
  auto schema = std::make_shared<Schema>();
  Parser parser(path, *schema);
  for (const auto& [key, value] : openapi.get_object()) TRY(parser.read(key, value));
  // Lists are atomic unless they say otherwise, maps granular.
  if (schema->type == Schema::Type::kArray && schema->topology == Schema::Topology::kGranular)
    schema->topology = Schema::Topology::kAtomic;
  return SchemaRef(std::move(schema));
}

void add_merge_rules(const Schema& schema, const std::string& path,
                     std::vector<json::MergeRule>& rules) {
  for (const auto& [name, property] : schema.properties) {
    const Schema& inner = *property.schema;
    const auto here = path.empty() ? name : fmt::format("{}.{}", path, name);
    if (inner.patch_merge)
      rules.push_back({here, json::MergeRule::Strategy::kMerge, inner.patch_merge_key});
    else if (inner.patch_replace)
      rules.push_back({here, json::MergeRule::Strategy::kReplace, ""});
    add_merge_rules(inner.items ? *inner.items : inner, here, rules);
  }
}

}  // namespace

const Property* Schema::find(std::string_view field) const {
  const auto found = properties.find(field);
  return found == properties.end() ? nullptr : &found->second;
}

Result<SchemaRef> parse_schema(const json::Value& openapi) { return parse_at(openapi, ""); }

json::MergeSchema make_merge_schema(const Schema& schema) {
  std::vector<json::MergeRule> rules;
  add_merge_rules(schema, "", rules);
  return json::MergeSchema(std::move(rules));
}

std::string_view type_text(Schema::Type type) {
  switch (type) {
    case Schema::Type::kAny:
      return "";
    case Schema::Type::kObject:
      return "object";
    case Schema::Type::kArray:
      return "array";
    case Schema::Type::kString:
      return "string";
    case Schema::Type::kInteger:
      return "integer";
    case Schema::Type::kNumber:
      return "number";
    case Schema::Type::kBoolean:
      return "boolean";
  }
  return "";
}

}  // namespace quorate::apiserver

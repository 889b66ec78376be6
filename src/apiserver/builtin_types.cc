#include "apiserver/builtin_types.h"

#include <map>
#include <memory>
#include <utility>

#include "apiserver/builtin_table.h"
#include "base/check.h"
#include "base/strings.h"

namespace quorate::apiserver {

namespace {

using Special = Schema::Special;
using Topology = Schema::Topology;
using Type = Schema::Type;

// Reads the table once. A mistake in it is a mistake of ours: CHECK.
class Types {
 public:
  Types() {
    read(kPodTypes);
    read(kOtherTypes);
    for (const auto& [name, text] : texts_) make(name);
  }

  SchemaRef find(std::string_view name) const {
    const auto found = made_.find(name);
    return found == made_.end() ? nullptr : found->second;
  }

 private:
  // A type goes from a line that begins with its name to the next such line.
  void read(std::string_view table) {
    std::string* open = nullptr;
    for (const auto line : split(table, '\n')) {
      if (line.empty()) continue;
      if (line.front() == ' ') {
        CHECK(open, "the table of types begins with a type");
        open->append(" ").append(trim(line));
        continue;
      }
      const auto parts = cut(line, ":");
      CHECK(parts, "a type of the table has a colon");
      const auto words = split(parts->before, ' ');
      open = &texts_.emplace(words[0], parts->after).first->second;
      if (words.size() > 1) atomic_.insert(std::string(words[0]));
    }
  }

  SchemaRef make(const std::string& name) {
    if (auto known = find(name)) return known;
    const auto text = texts_.find(name);
    CHECK(text != texts_.end(), "every type that the table names is in it");
    auto schema = std::make_shared<Schema>();
    schema->type = Type::kObject;
    schema->struct_type = true;
    schema->name = "v1." + name.substr(name.rfind('.') + 1);
    if (atomic_.contains(name)) schema->topology = Topology::kAtomic;
    const bool whole = trim(text->second).starts_with("kind string; apiVersion string");
    for (const auto field : split(text->second, ';')) {
      if (trim(field).empty()) continue;
      // Kind and version of whole objects have no numbers: they stand around the message.
      add_field(*schema, trim(field), !whole || schema->order.size() >= 2);
    }
    made_.emplace(name, schema);
    return schema;
  }

  void add_field(Schema& schema, std::string_view text, bool numbered) {
    const auto words = split(text, ' ');
    CHECK(words.size() >= 2, "a field of the table has a type");
    auto type = words[1];
    Property property;
    property.omit_empty = !type.ends_with('!');
    if (!property.omit_empty) type.remove_suffix(1);
    property.pointer = type.starts_with('*');
    if (property.pointer) type.remove_prefix(1);
    auto inner = std::make_shared<Schema>(*type_of(type));
    property.required = !property.omit_empty;
    if (numbered) put_number(property, schema, words);
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (words[i] == "required" || words[i] == "optional")
        property.required = words[i] == "required";
      else if (!words[i].starts_with('#'))
        add_tag(*inner, words[i]);
    }
    // What is always written has a default for OpenAPI, and so for the keys of lists.
    if (!property.omit_empty && !property.pointer && !inner->default_value)
      inner->default_value = zero_key(inner->type);
    property.schema = std::move(inner);
    schema.order.emplace_back(words[0]);
    schema.properties.emplace(std::string(words[0]), std::move(property));
  }

  static void put_number(Property& property, const Schema& schema,
                         const std::vector<std::string_view>& words) {
    if (!schema.order.empty()) {
      const auto& before = schema.properties.at(schema.order.back());
      property.number = before.number;
      property.inside = before.inside;
    }
    ++property.number;
    for (const auto word : words) {
      if (!word.starts_with('#')) continue;
      const auto parts = cut(word.substr(1), ".");
      const auto number = parse_integer(parts ? parts->after : word.substr(1));
      const auto inside = parse_integer(parts ? parts->before : "0");
      CHECK(number && inside, "the number of a field of the table is one");
      property.number = static_cast<std::uint32_t>(*number);
      property.inside = static_cast<std::uint32_t>(*inside);
    }
  }

  static std::optional<json::Value> zero_key(Type type) {
    if (type == Type::kString) return json::Value("");
    if (type == Type::kInteger) return json::Value(0);
    return std::nullopt;
  }

  static void add_tag(Schema& schema, std::string_view tag) {
    const auto parts = cut(tag, "=");
    if (tag == "omitzero") {
      schema.omit_zero = true;
      return;
    }
    CHECK(parts, "a tag of the table has a value");
    const auto [name, value] = *parts;
    if (name == "list" && value.starts_with("map:")) {
      schema.topology = Topology::kMap;
      for (const auto key : split(value.substr(4), ',')) schema.map_keys.emplace_back(key);
    } else if (name == "list") {
      schema.topology = value == "set" ? Topology::kSet : Topology::kAtomic;
    } else if (name == "map") {
      schema.topology = value == "granular" ? Topology::kGranular : Topology::kAtomic;
    } else if (name == "patch") {
      schema.patch_replace = value == "replace";
      schema.patch_merge = value == "merge" || value == "retain";
      schema.patch_retain_keys = value == "retain" || value == "retainKeys";
    } else if (name == "key") {
      schema.patch_merge_key = value;
    } else {
      CHECK(name == "default", "a tag of the table is known");
      schema.default_value = json::Value(value);
    }
  }

  SchemaRef type_of(std::string_view text) {
    auto schema = std::make_shared<Schema>();
    if (text.starts_with('*')) return type_of(text.substr(1));
    if (text.starts_with("[]")) {
      schema->type = Type::kArray;
      schema->topology = Topology::kAtomic;
      schema->items = type_of(text.substr(2));
      schema->name = "[]" + schema->items->name;
    } else if (text.starts_with("{}")) {
      const auto named = cut(text, "@");
      schema->type = Type::kObject;
      schema->additional_properties = type_of((named ? named->before : text).substr(2));
      schema->name = named ? "v1." + std::string(named->after)
                           : "map[string]" + schema->additional_properties->name;
    } else if (text.starts_with('$')) {
      schema->type = Type::kString;
      schema->name = text.find('.') == std::string_view::npos ? "v1." + std::string(text.substr(1))
                                                              : std::string(text.substr(1));
    } else if (!make_scalar(*schema, text)) {
      return make(std::string(text));
    }
    return schema;
  }

  static bool make_scalar(Schema& schema, std::string_view text) {
    schema.name = text;
    if (text == "string") {
      schema.type = Type::kString;
    } else if (text == "bool") {
      schema.type = Type::kBoolean;
    } else if (text == "int32" || text == "int64") {
      schema.type = Type::kInteger;
      schema.format = text;
    } else if (text == "bytes") {
      schema.type = Type::kString;
      schema.special = Special::kBytes;
      schema.name = "[]uint8";
    } else if (text == "quantity") {
      schema.special = Special::kQuantity;
      schema.name = "resource.Quantity";
    } else if (text == "time") {
      schema.special = Special::kTime;
      schema.name = "v1.Time";
    } else if (text == "microtime") {
      schema.special = Special::kMicroTime;
      schema.name = "v1.MicroTime";
    } else if (text == "intstr") {
      schema.int_or_string = true;
      schema.name = "intstr.IntOrString";
    } else if (text == "raw") {
      schema.special = Special::kRaw;
    } else {
      return false;
    }
    return true;
  }

  std::map<std::string, std::string, std::less<>> texts_;
  std::set<std::string> atomic_;
  std::map<std::string, SchemaRef, std::less<>> made_;
};

}  // namespace

SchemaRef find_builtin_type(std::string_view name) {
  static const Types kTypes;
  return kTypes.find(name);
}

json::Value make_zero(const Schema& schema) {
  json::Value zero = json::Object{};
  decode_typed(zero, schema);
  return zero;
}

}  // namespace quorate::apiserver

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/schema_errors.h"
#include "base/result.h"
#include "json/document.h"
#include "json/patch.h"

namespace quorate::apiserver {

struct Schema;
class Pattern;  // schema_pattern.h
class CelRule;  // schema_rules.h
using SchemaRef = std::shared_ptr<const Schema>;

// One field of an object.
struct Property {
  SchemaRef schema;
  // Of built-in kinds alone: how Go writes the field. A field that is not `omit_empty` is always
  // there; of those that are, a `pointer` keeps zero values, a struct is never empty.
  bool omit_empty = false;
  bool pointer = false;
  // In protobuf: the number of the field, and of the message that it stands in where Go embeds one.
  std::uint32_t number = 0, inside = 0;
  bool required = false;  // for those who read: what must be given is the business of validation
};

// What a value must look like: the structural schema of a custom resource (parse_schema), or the
// type of a built-in kind (builtin_types.h). Immutable once made, shared freely.
struct Schema {
  enum class Type { kAny, kObject, kArray, kString, kInteger, kNumber, kBoolean };
  // How apply and ownership see a list or a map.
  enum class Topology { kAtomic, kSet, kMap, kGranular };
  // Built-in scalars whose text has a meaning.
  enum class Special { kNone, kQuantity, kTime, kMicroTime, kBytes, kRaw, kDuration };

  Type type = Type::kAny;
  Special special = Special::kNone;
  bool nullable = false;
  bool preserve_unknown_fields = false;
  bool int_or_string = false;
  bool embedded_resource = false;
  bool struct_type = false;  // an object of a built-in kind with declared fields
  bool omit_zero = false;    // of a built-in kind: left out if it is not set, though a struct
  std::string name;          // of a built-in type, as Go says it: v1.PodSpec, []v1.Container
  std::string format;        // int32, int64, date-time, byte, ...

  // Objects. `order` is that of declaration; either properties or additional ones, not both.
  std::map<std::string, Property, std::less<>> properties;
  std::vector<std::string> order;
  SchemaRef additional_properties;
  bool additional_properties_any = false;  // additionalProperties: true
  std::vector<std::string> required;
  std::optional<std::int64_t> min_properties, max_properties;

  // Arrays.
  SchemaRef items;
  std::optional<std::int64_t> min_items, max_items;
  bool unique_items = false;

  // Scalars.
  json::Array enumeration;
  std::optional<double> minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false;
  std::optional<std::int64_t> min_length, max_length;
  std::shared_ptr<const Pattern> pattern;

  std::optional<json::Value> default_value;
  std::vector<std::shared_ptr<const CelRule>> rules;

  // Merging: granular for maps and atomic for lists unless said otherwise.
  Topology topology = Topology::kGranular;
  std::vector<std::string> map_keys;  // of a kMap list

  // Strategic merge patches, of built-in kinds alone: patchStrategy and patchMergeKey.
  bool patch_merge = false, patch_replace = false, patch_retain_keys = false;
  std::string patch_merge_key;

  const Property* find(std::string_view field) const;
};

// A structural schema from the `openAPIV3Schema` of a CRD. kInvalid with the place for keywords
// that are not known here: a schema that is not understood must not be taken for one that allows.
[[nodiscard]] Result<SchemaRef> parse_schema(const json::Value& openapi);

// Removes what the schema does not declare and gives its paths: `spec.x`, `spec.list[0].y`, in the
// order of the document, as the real server tells them. apiVersion, kind and metadata of the root
// stay; metadata is the concern of decode_metadata.
std::vector<std::string> prune(json::Value& object, const Schema& schema);

// Fills in declared defaults, where something stands that can hold them.
void apply_schema_defaults(json::Value& value, const Schema& schema);

// What is wrong with the value, with the real server's words. `path` is "" for a whole object.
// `old`, on an update: what was wrong before and has not changed is let pass (ratcheting).
[[nodiscard]] FieldErrors validate_schema(const json::Value& value, const Schema& schema,
                                          const json::Value* old = nullptr);
// The rules of x-kubernetes-validations that do not hold. Not to be asked of a value whose types
// are wrong.
[[nodiscard]] FieldErrors validate_rules(const json::Value& value, const Schema& schema,
                                         const json::Value* old = nullptr);
// Lists of type set and map that hold an element twice.
[[nodiscard]] FieldErrors validate_list_types(const json::Value& value, const Schema& schema);

// The rules of strategic merge patches of a built-in kind.
[[nodiscard]] json::MergeSchema make_merge_schema(const Schema& schema);

// As schemas write it: object, integer; empty for any.
[[nodiscard]] std::string_view type_text(Schema::Type type);

}  // namespace quorate::apiserver

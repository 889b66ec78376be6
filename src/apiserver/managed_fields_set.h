#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/document.h"

namespace quorate::apiserver {

struct Schema;

// One step into a value: a field, an element of a list by its keys, by its value, or by its place.
struct PathElement {
  enum class Kind { kField, kKey, kValue, kIndex };
  Kind kind = Kind::kField;
  // The field's name; the keys or the value as JSON with sorted keys; the index as text.
  std::string text;

  static PathElement field(std::string_view name);
  static PathElement key(const json::Object& keys);
  static PathElement value(const json::Value& value);

  // As fieldsV1 writes it: `f:name`, `k:{"name":"a"}`, `v:"x"`, `i:0`.
  std::string wire() const;
  static std::optional<PathElement> parse(std::string_view wire);
  // As messages say it: `.name`, `[name="a"]`, `[="x"]`, `[0]`.
  std::string pretty() const;

  friend auto operator<=>(const PathElement&, const PathElement&) = default;
};

// A set of paths into an object. A value: copies are deep.
class FieldSet {
 public:
  FieldSet() = default;
  // From top-level or dotted fields: {"status"}, {"metadata.ownerReferences"}.
  static FieldSet of_fields(const std::vector<std::string>& paths);
  // fieldsV1. kInvalid if it is not.
  [[nodiscard]] static Result<FieldSet> parse(const json::Value& fields_v1);
  [[nodiscard]] json::Value render() const;

  bool empty() const { return members_.empty() && children_.empty(); }
  void insert(const std::vector<PathElement>& path);
  bool has(const std::vector<PathElement>& path) const;

  // The paths of both.
  FieldSet united(const FieldSet& other) const;
  FieldSet intersection(const FieldSet& other) const;
  // The paths of this one that are not in the other.
  FieldSet difference(const FieldSet& other) const;
  // As difference; what lies below a path of the other is gone, too.
  FieldSet without_below(const FieldSet& other) const;

  // The same, asked of fieldsV1 as it is stored, without reading it into a set: whether it holds
  // any of these paths; whether it holds all of them.
  bool meets(const json::Object& fields_v1) const;
  bool lies_in(const json::Object& fields_v1) const;

  // Every path, each with messages' text: `.spec.replicas`.
  std::vector<std::string> texts() const;

  const std::set<PathElement>& members() const { return members_; }
  const std::map<PathElement, FieldSet>& children() const { return children_; }
  std::set<PathElement>& members() { return members_; }
  std::map<PathElement, FieldSet>& children() { return children_; }

  friend bool operator==(const FieldSet&, const FieldSet&) = default;

 private:
  std::set<PathElement> members_;
  std::map<PathElement, FieldSet> children_;
};

}  // namespace quorate::apiserver

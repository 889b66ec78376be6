#include "apiserver/managed_fields_typed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace quorate::apiserver {

namespace {

using Topology = Schema::Topology;
using Type = Schema::Type;
using Path = std::vector<PathElement>;

enum class Shape { kScalar, kList, kMap };

// What nobody declared: maps are merged, lists are atomic.
const Schema& undeclared() {
  static const Schema kUndeclared;
  return kUndeclared;
}

// How a value at this place is treated; `value` may be absent.
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

// How an element of a set or map is called; `problem` says why it cannot be.
std::optional<PathElement> name_of(const json::Value& element, const Schema& list,
                                   std::string* problem = nullptr) {
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

// --- what a value sets

class FieldCollector {
 public:
  FieldSet set;

  void visit(const json::Value& value, const Schema& schema) {
    const auto shape = shape_of(schema, &value);
    if (shape == Shape::kScalar || is_atomic(schema, shape)) return set.insert(path_);
    if (const auto* object = value.if_object(); object && shape == Shape::kMap)
      for (const auto& [key, inner] : *object) visit_member(key, inner, schema);
    if (const auto* array = value.if_array(); array && shape == Shape::kList)
      visit_elements(*array, schema);
  }

 private:
  void visit_member(std::string_view key, const json::Value& inner, const Schema& schema) {
    path_.push_back(PathElement::field(key));
    visit(inner, member_of(schema, key));
    const bool empty = inner.is_null() || (inner.is_object() && inner.get_object().empty());
    if (empty || !schema.find(key)) set.insert(path_);
    path_.pop_back();
  }

  void visit_elements(const json::Array& array, const Schema& schema) {
    std::map<PathElement, int> count;
    for (const auto& element : array)
      if (const auto name = name_of(element, schema)) ++count[*name];
    for (const auto& element : array) {
      const auto name = name_of(element, schema);
      if (!name) continue;
      path_.push_back(*name);
      if (count[*name] == 1) visit(element, element_of(schema));
      set.insert(path_);
      path_.pop_back();
    }
  }

  Path path_;
};

// --- how two values differ

class Comparer {
 public:
  Comparison out;

  // Absent values are nullptr; at least one is there.
  void visit(const json::Value* from, const json::Value* to, const Schema& schema) {
    const auto shape = shape_of(schema, to ? to : from);
    if (from && to && shape_of(schema, from) != shape) return leaf(from, to);
    bool is_leaf = shape == Shape::kScalar || is_atomic(schema, shape);
    if (!is_leaf && shape == Shape::kMap) {
      const auto* a = from ? from->if_object() : nullptr;
      const auto* b = to ? to->if_object() : nullptr;
      is_leaf = (!a || a->empty()) && (!b || b->empty());
      if (!is_leaf) visit_members(a, b, schema);
    } else if (!is_leaf) {
      const auto* a = from ? from->if_array() : nullptr;
      const auto* b = to ? to->if_array() : nullptr;
      is_leaf = (!a || a->empty()) && (!b || b->empty());
      if (!is_leaf) visit_elements(a, b, schema);
    }
    if (is_leaf) return leaf(from, to);
    if (!from) out.added.insert(path_);
    if (!to) out.removed.insert(path_);
  }

 private:
  void leaf(const json::Value* from, const json::Value* to) {
    if (!from)
      out.added.insert(path_);
    else if (!to)
      out.removed.insert(path_);
    else if (!json::equal(*from, *to))
      out.modified.insert(path_);
  }

  void visit_members(const json::Object* from, const json::Object* to, const Schema& schema) {
    const auto visit_one = [&](std::string_view key, const json::Value* a, const json::Value* b) {
      path_.push_back(PathElement::field(key));
      visit(a, b, member_of(schema, key));
      path_.pop_back();
    };
    if (from)
      for (const auto& [key, value] : *from)
        visit_one(key, &value, to ? to->if_contains(key) : nullptr);
    if (to)
      for (const auto& [key, value] : *to)
        if (!from || !from->contains(key)) visit_one(key, nullptr, &value);
  }

  using Found = std::map<PathElement, std::vector<const json::Value*>>;
  static Found index(const json::Array* array, const Schema& schema) {
    Found found;
    if (array)
      for (const auto& element : *array)
        if (const auto name = name_of(element, schema)) found[*name].push_back(&element);
    return found;
  }

  void visit_elements(const json::Array* from, const json::Array* to, const Schema& schema) {
    const auto before = index(from, schema), after = index(to, schema);
    static const std::vector<const json::Value*> kNone;
    const auto find_in = [](const Found& found, const PathElement& name) -> auto& {
      const auto there = found.find(name);
      return there == found.end() ? kNone : there->second;
    };
    for (const auto& [name, values] : before)
      visit_element(name, values, find_in(after, name), schema);
    for (const auto& [name, values] : after)
      if (!before.contains(name)) visit_element(name, kNone, values, schema);
  }

  // An element that stands several times counts as one atomic thing.
  void visit_element(const PathElement& name, const std::vector<const json::Value*>& before,
                     const std::vector<const json::Value*>& after, const Schema& schema) {
    path_.push_back(name);
    const auto& inner = element_of(schema);
    if (before.size() <= 1 && after.size() <= 1) {
      visit(before.empty() ? nullptr : before[0], after.empty() ? nullptr : after[0], inner);
    } else if (before.size() >= 2 && after.size() >= 2) {
      const bool same = std::equal(
          before.begin(), before.end(), after.begin(), after.end(),
          [](const json::Value* a, const json::Value* b) { return json::equal(*a, *b); });
      if (!same) out.modified.insert(path_);
    } else if (before.size() >= 2) {
      if (!after.empty()) visit(nullptr, after[0], inner);
      out.removed.insert(path_);
    } else {
      if (!before.empty()) visit(before[0], nullptr, inner);
      out.added.insert(path_);
    }
    path_.pop_back();
  }

  Path path_;
};

// --- laying one over the other

std::optional<json::Value> merge_values(const json::Value* under, const json::Value* over,
                                        const Schema& schema);

std::optional<json::Value> merge_maps(const json::Object* under, const json::Object* over,
                                      const Schema& schema) {
  json::Object out;
  const auto add = [&](std::string_view key, const json::Value* a, const json::Value* b) {
    if (auto merged = merge_values(a, b, member_of(schema, key))) out[key] = std::move(*merged);
  };
  if (under)
    for (const auto& [key, value] : *under)
      add(key, &value, over ? over->if_contains(key) : nullptr);
  if (over)
    for (const auto& [key, value] : *over)
      if (!under || !under->contains(key)) add(key, nullptr, &value);
  if (out.empty()) return std::nullopt;
  return out;
}

// The order: elements that both have stand as in `over`, the others keep their place.
class ListMerger {
 public:
  ListMerger(const json::Array* under, const json::Array* over, const Schema& schema)
      : schema_(schema) {
    index(under, left_, left_values_);
    index(over, right_, right_values_);
    for (const auto& name : right_)
      if (left_values_.contains(name)) shared_.push_back(name);
  }

  std::optional<json::Value> run() {
    std::size_t l = 0, r = 0;
    while (l < left_.size() || r < right_.size()) {
      if (l < left_.size() && r < right_.size()) {
        if (left_[l] == right_[r]) {
          take(right_[r]);
          advance_shared(right_[r]);
          ++l, ++r;
          continue;
        }
        if (right_values_.contains(left_[l]) && next_ < shared_.size() &&
            shared_[next_] != left_[l]) {
          ++l;
          continue;
        }
      }
      if (l < left_.size()) {
        if (!right_values_.contains(left_[l])) {
          take(left_[l++]);
          continue;
        }
        if (taken_.contains(left_[l])) ++l;
      }
      if (r < right_.size()) {
        take(right_[r]);
        advance_shared(right_[r++]);
      }
    }
    if (out_.empty()) return std::nullopt;
    return std::move(out_);
  }

 private:
  using Values = std::map<PathElement, const json::Value*>;

  void index(const json::Array* array, Path& names, Values& values) const {
    if (!array) return;
    for (const auto& element : *array)
      if (const auto name = name_of(element, schema_);
          name && values.emplace(*name, &element).second)
        names.push_back(*name);
  }

  void take(const PathElement& name) {
    if (!taken_.insert(name).second) return;
    const auto left = left_values_.find(name), right = right_values_.find(name);
    auto merged =
        merge_values(left == left_values_.end() ? nullptr : left->second,
                     right == right_values_.end() ? nullptr : right->second, element_of(schema_));
    if (merged) out_.push_back(std::move(*merged));
  }

  void advance_shared(const PathElement& name) {
    if (next_ < shared_.size() && shared_[next_] == name) ++next_;
  }

  const Schema& schema_;
  Path left_, right_, shared_;
  Values left_values_, right_values_;
  std::size_t next_ = 0;
  std::set<PathElement> taken_;
  json::Array out_;
};

std::optional<json::Value> merge_values(const json::Value* under, const json::Value* over,
                                        const Schema& schema) {
  const auto shape = shape_of(schema, over ? over : under);
  const auto leaf = [&] { return over ? *over : *under; };
  if (shape == Shape::kScalar || is_atomic(schema, shape)) return leaf();
  if (shape == Shape::kMap) {
    const auto* a = under ? under->if_object() : nullptr;
    const auto* b = over ? over->if_object() : nullptr;
    if ((!a || a->empty()) && (!b || b->empty())) return leaf();
    return merge_maps(a, b, schema);
  }
  const auto* a = under ? under->if_array() : nullptr;
  const auto* b = over ? over->if_array() : nullptr;
  if ((!a || a->empty()) && (!b || b->empty())) return leaf();
  return ListMerger(a, b, schema).run();
}

// --- taking fields away

std::optional<json::Value> without(const json::Value& value, const FieldSet& fields,
                                   const Schema& schema) {
  const auto shape = shape_of(schema, &value);
  if (shape == Shape::kScalar) return value;
  if (is_atomic(schema, shape)) return std::nullopt;
  const auto rest_of = [&](const PathElement& name, const json::Value& inner,
                           const Schema& declared) -> std::optional<json::Value> {
    if (fields.members().contains(name)) return std::nullopt;
    const auto below = fields.children().find(name);
    if (below == fields.children().end()) return inner;
    auto rest = without(inner, below->second, declared);
    return rest ? std::move(*rest) : json::Value(nullptr);
  };
  if (const auto* object = value.if_object(); object && shape == Shape::kMap) {
    json::Object out;
    for (const auto& [key, inner] : *object)
      if (auto rest = rest_of(PathElement::field(key), inner, member_of(schema, key)))
        out[key] = std::move(*rest);
    if (!out.empty()) return out;
  }
  if (const auto* array = value.if_array(); array && shape == Shape::kList) {
    json::Array out;
    for (const auto& element : *array) {
      const auto name = name_of(element, schema);
      if (!name) continue;
      if (auto rest = rest_of(*name, element, element_of(schema))) out.push_back(std::move(*rest));
    }
    if (!out.empty()) return out;
  }
  return std::nullopt;
}

// --- fitting

// Go's words for a value and for its type.
std::string go_value(const json::Value& value) {
  if (value.is_string()) return quoted(value.get_string());
  return json::render(value);
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
      return at(fmt::format("expected boolean, got &{{{}}}", go_value(value)));
    if ((schema.type == Type::kInteger || schema.type == Type::kNumber) && !value.is_number())
      return at(fmt::format("expected numeric (int or float), got {}", go_type(value)));
    return std::nullopt;
  }

  std::optional<std::string> visit_list(const json::Value& value, const Schema& schema) {
    const auto* array = value.if_array();
    if (!array) return at(fmt::format("expected list, got &{{{}}}", go_value(value)));
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
    if (!object) return at(fmt::format("expected map, got &{{{}}}", go_value(value)));
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

FieldSet fields_of(const json::Value& value, const Schema& schema) {
  FieldCollector collector;
  collector.visit(value, schema);
  return std::move(collector.set);
}

FieldSet with_named_fields(const FieldSet& set, const Schema& schema) {
  FieldSet out;
  out.members() = set.members();
  for (const auto& [element, child] : set.children()) {
    const bool is_field = element.kind == PathElement::Kind::kField;
    if (is_field && schema.find(element.text)) out.members().insert(element);
    const Schema& inner = is_field ? member_of(schema, element.text)
                          : element.kind == PathElement::Kind::kKey ? element_of(schema)
                                                                    : undeclared();
    out.children().emplace(element, with_named_fields(child, inner));
  }
  return out;
}

Comparison compare(const json::Value& from, const json::Value& to, const Schema& schema) {
  Comparer comparer;
  comparer.visit(&from, &to, schema);
  return std::move(comparer.out);
}

json::Value merge_typed(const json::Value& under, const json::Value& over, const Schema& schema) {
  auto merged = merge_values(&under, &over, schema);
  return merged ? std::move(*merged) : json::Value(json::Object{});
}

json::Value without_fields(const json::Value& value, const FieldSet& fields, const Schema& schema) {
  auto rest = without(value, fields, schema);
  return rest ? std::move(*rest) : json::Value(json::Object{});
}

std::optional<std::string> find_misfit(const json::Value& value, const Schema& schema) {
  return Fitter().visit(value, schema);
}

}  // namespace quorate::apiserver

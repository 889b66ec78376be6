#include "apiserver/managed_fields_typed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "apiserver/managed_fields_shape.h"

namespace quorate::apiserver {

namespace {

using Path = std::vector<PathElement>;

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
    if (from && to && json::equal(*from, *to)) return;  // as most of an object is in most updates
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
    const bool is_metadata = path_.size() == 1 && path_.front() == PathElement::field("metadata");
    const auto visit_one = [&](std::string_view key, const json::Value* a, const json::Value* b) {
      if (is_metadata && key == "managedFields") return;  // nobody's
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

}  // namespace quorate::apiserver

#include "apiserver/managed_fields_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace quorate::apiserver {

namespace {

using Kind = PathElement::Kind;

// What stands below an element of fieldsV1; nullptr if it does not name the element.
const json::Object* find_below(const json::Object& fields, const PathElement& element) {
  const auto* inner = fields.if_contains(element.wire());
  return inner ? inner->if_object() : nullptr;
}

// Whether the element itself is meant, and not only what stands below it.
bool is_member(const json::Object* below) {
  return below && (below->empty() || below->contains("."));
}

void add_texts(const FieldSet& set, const std::string& prefix, std::vector<std::string>& out) {
  for (const auto& member : set.members()) out.push_back(prefix + member.pretty());
  for (const auto& [element, child] : set.children())
    add_texts(child, prefix + element.pretty(), out);
}

Result<void> read(const json::Value& fields, FieldSet& set, bool root) {
  if (!fields.is_object()) return fail(Code::kInvalid, "a set of fields is no object");
  for (const auto& [key, inner] : fields.get_object()) {
    if (key == ".") {
      if (root) return fail(Code::kInvalid, "the root of an object cannot be owned");
      continue;
    }
    const auto element = PathElement::parse(key);
    if (!element) return fail(Code::kInvalid, "not a path element: " + std::string(key));
    if (!inner.is_object()) return fail(Code::kInvalid, "a set of fields is no object");
    if (is_member(&inner.get_object())) set.members().insert(*element);
    FieldSet child;
    TRY(read(inner, child, false));
    if (!child.empty()) set.children().emplace(*element, std::move(child));
  }
  return {};
}

}  // namespace

PathElement PathElement::field(std::string_view name) { return {Kind::kField, std::string(name)}; }
PathElement PathElement::key(const json::Object& keys) {
  return {Kind::kKey, json::render_sorted(keys)};
}
PathElement PathElement::value(const json::Value& value) {
  return {Kind::kValue, json::render_sorted(value)};
}

std::string PathElement::wire() const {
  switch (kind) {
    case Kind::kField:
      return "f:" + text;
    case Kind::kKey:
      return "k:" + text;
    case Kind::kValue:
      return "v:" + text;
    case Kind::kIndex:
      return "i:" + text;
  }
  return text;
}

std::optional<PathElement> PathElement::parse(std::string_view wire) {
  if (wire.size() < 2 || wire[1] != ':') return std::nullopt;
  const auto rest = wire.substr(2);
  if (wire[0] == 'f') return PathElement::field(rest);
  if (wire[0] == 'i') {
    if (!parse_integer(rest)) return std::nullopt;
    return PathElement{Kind::kIndex, std::string(rest)};
  }
  if (wire[0] != 'k' && wire[0] != 'v') return std::nullopt;
  auto parsed = json::parse(rest);
  if (!parsed) return std::nullopt;
  if (wire[0] == 'v') return PathElement::value(*parsed);
  if (!parsed->is_object()) return std::nullopt;
  return PathElement::key(parsed->get_object());
}

std::string PathElement::pretty() const {
  switch (kind) {
    case Kind::kField:
      return "." + text;
    case Kind::kIndex:
      return "[" + text + "]";
    case Kind::kValue:
      return "[=" + text + "]";
    case Kind::kKey:
      break;
  }
  std::string out;
  if (const auto keys = json::parse(text); keys && keys->is_object())
    for (const auto& [name, part] : keys->get_object())
      out += fmt::format("{}{}={}", out.empty() ? "" : ",", std::string_view(name),
                         json::render(part));
  return "[" + out + "]";
}

FieldSet FieldSet::of_fields(const std::vector<std::string>& paths) {
  FieldSet set;
  for (const auto& path : paths) {
    std::vector<PathElement> elements;
    for (const auto name : split(path, '.')) elements.push_back(PathElement::field(name));
    set.insert(elements);
  }
  return set;
}

Result<FieldSet> FieldSet::parse(const json::Value& fields_v1) {
  FieldSet set;
  TRY(read(fields_v1, set, true));
  return set;
}

json::Value FieldSet::render() const {
  json::Object out;
  for (const auto& member : members_) out.emplace(member.wire(), json::Object{});
  for (const auto& [element, child] : children_) {
    json::Object inner;
    if (members_.contains(element)) inner.emplace(".", json::Object{});
    auto below = child.render();
    for (auto& [key, value] : below.as_object()) inner.emplace(key, std::move(value));
    out[element.wire()] = std::move(inner);
  }
  return out;
}

void FieldSet::insert(const std::vector<PathElement>& path) {
  if (path.empty()) return;
  FieldSet* set = this;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) set = &set->children_[path[i]];
  set->members_.insert(path.back());
}

bool FieldSet::has(const std::vector<PathElement>& path) const {
  if (path.empty()) return false;
  const FieldSet* set = this;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const auto child = set->children_.find(path[i]);
    if (child == set->children_.end()) return false;
    set = &child->second;
  }
  return set->members_.contains(path.back());
}

FieldSet FieldSet::united(const FieldSet& other) const {
  FieldSet out = *this;
  out.members_.insert(other.members_.begin(), other.members_.end());
  for (const auto& [element, child] : other.children_) {
    const auto mine = out.children_.find(element);
    if (mine == out.children_.end())
      out.children_.emplace(element, child);
    else
      mine->second = mine->second.united(child);
  }
  return out;
}

FieldSet FieldSet::intersection(const FieldSet& other) const {
  FieldSet out;
  for (const auto& member : members_)
    if (other.members_.contains(member)) out.members_.insert(member);
  for (const auto& [element, child] : children_) {
    const auto theirs = other.children_.find(element);
    if (theirs == other.children_.end()) continue;
    if (auto both = child.intersection(theirs->second); !both.empty())
      out.children_.emplace(element, std::move(both));
  }
  return out;
}

FieldSet FieldSet::difference(const FieldSet& other) const {
  FieldSet out;
  for (const auto& member : members_)
    if (!other.members_.contains(member)) out.members_.insert(member);
  for (const auto& [element, child] : children_) {
    const auto theirs = other.children_.find(element);
    auto rest = theirs == other.children_.end() ? child : child.difference(theirs->second);
    if (!rest.empty()) out.children_.emplace(element, std::move(rest));
  }
  return out;
}

FieldSet FieldSet::without_below(const FieldSet& other) const {
  FieldSet out;
  for (const auto& member : members_)
    if (!other.members_.contains(member)) out.members_.insert(member);
  for (const auto& [element, child] : children_) {
    if (other.members_.contains(element)) continue;
    const auto theirs = other.children_.find(element);
    auto rest = theirs == other.children_.end() ? child : child.without_below(theirs->second);
    if (!rest.empty()) out.children_.emplace(element, std::move(rest));
  }
  return out;
}

bool FieldSet::meets(const json::Object& fields_v1) const {
  for (const auto& member : members_)
    if (is_member(find_below(fields_v1, member))) return true;
  for (const auto& [element, child] : children_)
    if (const auto* below = find_below(fields_v1, element); below && child.meets(*below))
      return true;
  return false;
}

bool FieldSet::lies_in(const json::Object& fields_v1) const {
  for (const auto& member : members_)
    if (!is_member(find_below(fields_v1, member))) return false;
  for (const auto& [element, child] : children_)
    if (const auto* below = find_below(fields_v1, element); !below || !child.lies_in(*below))
      return false;
  return true;
}

std::vector<std::string> FieldSet::texts() const {
  std::vector<std::string> out;
  add_texts(*this, "", out);
  return out;
}

}  // namespace quorate::apiserver

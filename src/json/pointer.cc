// The part of document.h that walks, reads and compares.

#include "json/pointer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "json/document.h"

namespace quorate::json {

namespace {

const Value* child(const Value& value, std::string_view name) {
  if (const auto* object = value.if_object()) return object->if_contains(name);
  const auto* array = value.if_array();
  const auto index = pointer_index(name);
  return array && index && *index < array->size() ? &(*array)[*index] : nullptr;
}

// Takes the first name off a pointer; nothing if it is none. `room` holds a name that is not
// written out as it is.
std::optional<std::string_view> take_name(std::string_view& pointer, std::string& room) {
  if (!pointer.starts_with('/')) return std::nullopt;
  pointer.remove_prefix(1);
  const auto name = pointer.substr(0, pointer.find('/'));
  pointer.remove_prefix(name.size());
  if (name.find('~') == std::string_view::npos) return name;
  room.clear();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '~') {
      room += name[i];
      continue;
    }
    ++i;
    if (i == name.size() || (name[i] != '0' && name[i] != '1')) return std::nullopt;
    room += name[i] == '0' ? '~' : '/';
  }
  return room;
}

// A type that getters ask for: its name, and how a value gives it.
template <class T, class Read>
Result<T> typed_at(const Value& value, std::string_view pointer, std::string_view wanted,
                   Read read) {
  const Value* found = find(value, pointer);
  const std::string_view place = pointer.empty() ? "document" : pointer;
  if (!found || found->is_null()) return fail(Code::kNotFound, fmt::format("{}: not set", place));
  if (auto content = read(*found)) return *content;
  return fail(Code::kInvalid,
              fmt::format("{}: expected {}, found {}", place, wanted, kind_name(*found)));
}

// Where `name` is to be put under `parent`; nullptr if the parent cannot hold it.
Value* place_for(Value& parent, std::string_view name) {
  if (parent.is_null()) parent.emplace_object();
  if (auto* object = parent.if_object()) return &(*object)[name];
  auto* array = parent.if_array();
  if (!array) return nullptr;
  const auto index = name == "-" ? array->size() : pointer_index(name);
  if (!index || *index > array->size()) return nullptr;
  if (*index == array->size()) array->emplace_back(nullptr);
  return &(*array)[*index];
}

}  // namespace

std::optional<std::vector<std::string>> pointer_names(std::string_view pointer) {
  std::vector<std::string> names;
  std::string room;
  while (!pointer.empty()) {
    const auto name = take_name(pointer, room);
    if (!name) return std::nullopt;
    names.emplace_back(*name);
  }
  return names;
}

std::optional<std::size_t> pointer_index(std::string_view name) {
  if (name.empty() || (name.size() > 1 && name[0] == '0')) return std::nullopt;
  std::size_t index = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return index;
}

std::string escape_pointer(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

const Value* find(const Value& value, std::string_view pointer) {
  const Value* at = &value;
  std::string room;
  while (at && !pointer.empty()) {
    const auto name = take_name(pointer, room);
    at = name ? child(*at, *name) : nullptr;
  }
  return at;
}

Value* find(Value& value, std::string_view pointer) {
  return const_cast<Value*>(find(std::as_const(value), pointer));
}

Result<std::string_view> text_at(const Value& value, std::string_view pointer) {
  return typed_at<std::string_view>(value, pointer, "a string",
                                    [](const Value& found) -> std::optional<std::string_view> {
                                      if (const auto* text = found.if_string())
                                        return std::string_view(*text);
                                      return std::nullopt;
                                    });
}

Result<std::int64_t> integer_at(const Value& value, std::string_view pointer) {
  return typed_at<std::int64_t>(value, pointer, "an integer",
                                [](const Value& found) -> std::optional<std::int64_t> {
                                  if (const auto* n = found.if_int64()) return *n;
                                  return std::nullopt;
                                });
}

Result<double> number_at(const Value& value, std::string_view pointer) {
  return typed_at<double>(value, pointer, "a number",
                          [](const Value& found) -> std::optional<double> {
                            if (const auto* n = found.if_double()) return *n;
                            if (const auto* n = found.if_int64()) return static_cast<double>(*n);
                            if (const auto* n = found.if_uint64()) return static_cast<double>(*n);
                            return std::nullopt;
                          });
}

Result<bool> flag_at(const Value& value, std::string_view pointer) {
  return typed_at<bool>(value, pointer, "true or false",
                        [](const Value& found) -> std::optional<bool> {
                          if (const auto* flag = found.if_bool()) return *flag;
                          return std::nullopt;
                        });
}

Result<const Object*> object_at(const Value& value, std::string_view pointer) {
  return typed_at<const Object*>(value, pointer, "an object",
                                 [](const Value& found) -> std::optional<const Object*> {
                                   if (const auto* object = found.if_object()) return object;
                                   return std::nullopt;
                                 });
}

Result<const Array*> array_at(const Value& value, std::string_view pointer) {
  return typed_at<const Array*>(value, pointer, "an array",
                                [](const Value& found) -> std::optional<const Array*> {
                                  if (const auto* array = found.if_array()) return array;
                                  return std::nullopt;
                                });
}

std::string_view text_or(const Value& value, std::string_view pointer, std::string_view fallback) {
  const Value* found = find(value, pointer);
  const auto* text = found ? found->if_string() : nullptr;
  return text ? std::string_view(*text) : fallback;
}

Result<void> put(Value& value, std::string_view pointer, Value content) {
  const auto names = pointer_names(pointer);
  if (!names) return fail(Code::kInvalid, fmt::format("{}: not a JSON pointer", pointer));
  // A walk that will not succeed must not have made anything on its way.
  const Value* at = &value;
  for (const auto& name : *names) {
    if (!at || at->is_null() || at->is_object()) {
      at = at && at->is_object() ? child(*at, name) : nullptr;
      continue;
    }
    const auto* array = at->if_array();
    const auto index = name == "-" && array ? std::optional(array->size()) : pointer_index(name);
    if (!array || !index || *index > array->size())
      return fail(Code::kInvalid, fmt::format("{}: {} stands in the way", pointer, kind_name(*at)));
    at = child(*at, name);
  }
  Value* place = &value;
  for (const auto& name : *names) place = place_for(*place, name);
  *place = std::move(content);
  return {};
}

bool remove(Value& value, std::string_view pointer) {
  const auto slash = pointer.rfind('/');
  if (slash == std::string_view::npos) return false;
  Value* parent = find(value, pointer.substr(0, slash));
  const auto names = pointer_names(pointer.substr(slash));
  if (!parent || !names || !child(*parent, names->back())) return false;
  if (auto* object = parent->if_object()) {
    object->stable_erase(names->back());
  } else {
    auto& array = parent->get_array();
    array.erase(array.begin() + static_cast<std::ptrdiff_t>(*pointer_index(names->back())));
  }
  return true;
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_double() == b.is_double()) return a == b;
    return a.to_number<double>() == b.to_number<double>();
  }
  if (a.is_array() && b.is_array())
    return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(),
                      b.get_array().end(), equal);
  if (!a.is_object() || !b.is_object()) return a == b;
  const auto& other = b.get_object();
  if (a.get_object().size() != other.size()) return false;
  auto place = other.begin();  // most objects that are compared are written in the same order
  return std::all_of(a.get_object().begin(), a.get_object().end(), [&](const auto& member) {
    const Value* found =
        place->key() == member.key() ? &place->value() : other.if_contains(member.key());
    ++place;
    return found && equal(member.value(), *found);
  });
}

std::string_view kind_name(const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "true or false";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
      return "an integer";
    case boost::json::kind::double_:
      return "a number";
    case boost::json::kind::string:
      return "a string";
    case boost::json::kind::object:
      return "an object";
    case boost::json::kind::array:
      return "an array";
  }
  return "nothing";
}

}  // namespace quorate::json

#include "apiserver/builtin_support.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace quorate::apiserver {

json::Object& object_in(json::Object& parent, std::string_view key) {
  auto& value = parent[key];
  if (!value.is_object()) value = json::Object{};
  return value.get_object();
}

json::Object* find_object(json::Object& parent, std::string_view key) {
  auto* value = parent.if_contains(key);
  return value ? value->if_object() : nullptr;
}

void for_each_object(json::Object& parent, std::string_view key,
                     const std::function<void(json::Object&)>& visit) {
  auto* value = parent.if_contains(key);
  if (!value || !value->is_array()) return;
  for (auto& element : value->get_array())
    if (element.is_object()) visit(element.get_object());
}

void for_each_at(const json::Value& value, std::string_view key, const std::string& path,
                 const std::function<void(const json::Value&, const std::string&)>& visit) {
  const auto* list = member(value, key);
  if (!list || !list->is_array()) return;
  for (std::size_t i = 0; i < list->get_array().size(); ++i)
    visit(list->get_array()[i], fmt::format("{}{}{}[{}]", path, path.empty() ? "" : ".", key, i));
}

void set_if_absent(json::Object& object, std::string_view key, json::Value value) {
  auto* there = object.if_contains(key);
  const bool absent =
      !there || there->is_null() || (there->is_string() && there->get_string().empty());
  if (absent) object[key] = std::move(value);
}

void keep_first_alike(json::Object& object, std::string_view one, std::string_view list,
                      std::string_view inner) {
  const auto first = [&]() -> const json::Value* {
    const auto* all = object.if_contains(list);
    if (!all || !all->is_array() || all->get_array().empty()) return nullptr;
    const auto& element = all->get_array().front();
    return inner.empty() ? &element : member(element, inner);
  };
  const auto* single = object.if_contains(one);
  const bool set = single && single->is_string() && !single->get_string().empty();
  if (!set) {
    if (const auto* found = first()) {
      const json::Value copy = *found;
      object[one] = copy;
    }
    return;
  }
  if (const auto* found = first(); found && *found == *single) return;
  const json::Value copy = *single;
  json::Value element = copy;
  if (!inner.empty()) element = json::Object{{inner, copy}};
  object[list] = json::Array{std::move(element)};
}

const json::Value* member(const json::Value& value, std::string_view key) {
  const auto* object = value.if_object();
  return object ? object->if_contains(key) : nullptr;
}

std::string_view text_in(const json::Value& value, std::string_view key) {
  const auto* found = member(value, key);
  return found && found->is_string() ? std::string_view(found->get_string()) : std::string_view();
}

bool same_at(const json::Value& a, const json::Value& b, std::string_view pointer) {
  const auto* x = json::find(a, pointer);
  const auto* y = json::find(b, pointer);
  if (x && x->is_null()) x = nullptr;
  if (y && y->is_null()) y = nullptr;
  return x && y ? json::equal(*x, *y) : x == y;
}

void check_name(FieldErrors& errors, const std::string& field, std::string_view name,
                NameRule rule) {
  for (const auto& problem : rule(name))
    errors.push_back(invalid_value(field, json::Value(name), problem));
}

void check_choice(FieldErrors& errors, const std::string& field, std::string_view value,
                  std::initializer_list<std::string_view> choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  errors.push_back(not_supported(field, json::Value(value), {choices.begin(), choices.end()}));
}

void check_not_negative(FieldErrors& errors, const json::Value& value, std::string_view key,
                        const std::string& path) {
  const auto* found = member(value, key);
  if (found && found->is_int64() && found->get_int64() < 0)
    errors.push_back(invalid_value(fmt::format("{}.{}", path, key), *found,
                                   "must be greater than or equal to 0"));
}

void check_label_selector(FieldErrors& errors, const json::Value& selector,
                          const std::string& path) {
  if (const auto* labels = member(selector, "matchLabels"); labels && labels->is_object())
    for (const auto& [key, value] : labels->get_object()) {
      check_name(errors, path + ".matchLabels", key, check_qualified_name);
      if (value.is_string())
        check_name(errors, path + ".matchLabels", value.get_string(), check_label_value);
    }
  for_each_at(
      selector, "matchExpressions", path, [&](const json::Value& one, const std::string& at) {
        const auto op = text_in(one, "operator");
        const auto* values = member(one, "values");
        const bool some = values && values->is_array() && !values->get_array().empty();
        if (op == "In" || op == "NotIn") {
          if (!some)
            errors.push_back(required_value(
                at + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
        } else if (op == "Exists" || op == "DoesNotExist") {
          if (some)
            errors.push_back(
                forbidden(at + ".values",
                          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
        } else {
          errors.push_back(
              invalid_value(at + ".operator", json::Value(op), "not a valid selector operator"));
        }
        check_name(errors, at + ".key", text_in(one, "key"), check_qualified_name);
      });
}

bool is_ip_address(std::string_view text) {
  if (text.find(':') != std::string_view::npos) {
    const auto groups = split(text, ':');
    return groups.size() >= 3 && groups.size() <= 8 &&
           std::all_of(groups.begin(), groups.end(), [](std::string_view group) {
             return group.size() <= 4 && std::all_of(group.begin(), group.end(), [](char c) {
                      return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
                    });
           });
  }
  const auto parts = split(text, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           const auto number = parse_integer(part);
           return number && *number >= 0 && *number <= 255 && part.front() != '+' &&
                  (part.size() == 1 || part.front() != '0');
         });
}

}  // namespace quorate::apiserver

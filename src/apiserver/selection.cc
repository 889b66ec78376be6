#include "apiserver/selection.h"

#include <fmt/format.h>

#include <optional>

namespace quorate::apiserver {

namespace {

// The packed form: each selectable field's value in the kind's order, then label and value in turn,
// every text ended by a NUL, which neither of them can hold.
constexpr char kEnd = '\0';

void append(std::string& packed, std::string_view text) {
  for (char c : text)
    if (c != kEnd) packed += c;
  packed += kEnd;
}

std::string_view take(std::string_view& packed) {
  const auto end = packed.find(kEnd);
  const auto text = packed.substr(0, end);
  packed.remove_prefix(end == std::string_view::npos ? packed.size() : end + 1);
  return text;
}

std::string field_text(const json::Value* value, const std::string& absent) {
  if (!value || value->is_null()) return absent;
  if (const auto* text = value->if_string()) return std::string(*text);
  return json::render(*value);  // numbers and flags
}

}  // namespace

std::string make_index(const Kind& kind, const json::Value& object) {
  std::string packed;
  for (const auto& field : kind.selectable)
    append(packed, field_text(json::find(object, field.pointer), field.absent));
  const auto labels = json::object_at(object, "/metadata/labels");
  if (!labels) return packed;
  for (const auto& [key, value] : **labels) {
    append(packed, key);
    append(packed, value.is_string() ? std::string_view(value.get_string()) : "");
  }
  packed.shrink_to_fit();
  return packed;
}

bool Selection::matches(const Kind& kind, const ObjectKey& key, const Record& record) const {
  if (!ns.empty() && key.ns != ns) return false;
  std::string_view labels_at = record.index;
  for (std::size_t i = 0; i < kind.selectable.size(); ++i) take(labels_at);

  if (!fields.requirements().empty()) {
    const auto find_field = [&](std::string_view name) -> std::string {
      if (name == "metadata.name") return key.name;
      if (name == "metadata.namespace") return key.ns;
      std::string_view packed = record.index;
      for (const auto& field : kind.selectable) {
        const auto value = take(packed);
        if (field.name == name) return std::string(value);
      }
      return "";
    };
    if (!fields.matches(find_field)) return false;
  }
  const auto find_label = [&](std::string_view name) -> std::optional<std::string_view> {
    std::string_view packed = labels_at;
    while (!packed.empty()) {
      const auto label = take(packed);
      const auto value = take(packed);
      if (label == name) return value;
    }
    return std::nullopt;
  };
  return labels.matches(find_label);
}

}  // namespace quorate::apiserver

#include "apiserver/table_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "json/timestamp.h"

namespace quorate::apiserver {

namespace {

std::string in_two_units(std::int64_t large, char unit, std::int64_t small, char smaller) {
  return small ? fmt::format("{}{}{}{}", large, unit, small, smaller)
               : fmt::format("{}{}", large, unit);
}

std::string requirement_text(const json::Value& requirement) {
  const auto key = json::text_or(requirement, "/key", "");
  const auto relation = json::text_or(requirement, "/operator", "");
  if (relation == "Exists") return std::string(key);
  if (relation == "DoesNotExist") return fmt::format("!{}", key);
  auto values = texts_of(requirement, "/values");
  std::sort(values.begin(), values.end());
  return fmt::format("{} {} ({})", key, to_lower(relation), fmt::join(values, ","));
}

std::string joined(std::vector<std::pair<std::string, std::string>> by_key) {
  std::stable_sort(by_key.begin(), by_key.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> texts;
  texts.reserve(by_key.size());
  for (auto& [key, text] : by_key) texts.push_back(std::move(text));
  return or_else(join(texts, ","), "<none>");
}

std::vector<std::pair<std::string, std::string>> label_texts(const json::Value& object,
                                                             std::string_view pointer) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto* labels = json::find(object, pointer);
  if (!labels || !labels->is_object()) return out;
  for (const auto& [key, value] : labels->get_object())
    if (const auto* text = value.if_string())
      out.emplace_back(key, fmt::format("{}={}", std::string_view(key), std::string_view(*text)));
  return out;
}

}  // namespace

std::string human_duration(Duration duration) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour, kYear = 365 * kDay;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < -1) return "<invalid>";  // clocks may differ by a little
  if (seconds < 0) return "0s";
  if (seconds < 2 * kMinute) return fmt::format("{}s", seconds);
  if (seconds < 10 * kMinute) return in_two_units(seconds / kMinute, 'm', seconds % kMinute, 's');
  if (seconds < 3 * kHour) return fmt::format("{}m", seconds / kMinute);
  if (seconds < 8 * kHour)
    return in_two_units(seconds / kHour, 'h', seconds % kHour / kMinute, 'm');
  if (seconds < 2 * kDay) return fmt::format("{}h", seconds / kHour);
  if (seconds < 8 * kDay) return in_two_units(seconds / kDay, 'd', seconds % kDay / kHour, 'h');
  if (seconds < 2 * kYear) return fmt::format("{}d", seconds / kDay);
  if (seconds < 8 * kYear) return in_two_units(seconds / kYear, 'y', seconds % kYear / kDay, 'd');
  return fmt::format("{}y", seconds / kYear);
}

std::string time_since(const json::Value& object, std::string_view pointer, WallTime now) {
  const auto text = json::text_at(object, pointer);
  if (!text) return "<unknown>";
  const auto time = json::parse_time(*text);
  return time ? human_duration(now - *time) : "<invalid>";
}

std::string age_of(const json::Value& object, WallTime now) {
  return time_since(object, "/metadata/creationTimestamp", now);
}

std::string text_of(const json::Value& object, std::string_view pointer) {
  return std::string(json::text_or(object, pointer, ""));
}

std::int64_t number_of(const json::Value& object, std::string_view pointer) {
  return json::integer_at(object, pointer).value_or(0);
}

std::size_t size_of(const json::Value& object, std::string_view pointer) {
  const auto* found = json::find(object, pointer);
  if (!found) return 0;
  if (const auto* array = found->if_array()) return array->size();
  return found->is_object() ? found->get_object().size() : 0;
}

std::vector<std::string> texts_of(const json::Value& object, std::string_view pointer) {
  std::vector<std::string> out;
  for (const auto& item : list_of(object, pointer))
    if (const auto* text = item.if_string()) out.emplace_back(*text);
  return out;
}

const json::Array& list_of(const json::Value& object, std::string_view pointer) {
  static const json::Array kNone;
  const auto list = json::array_at(object, pointer);
  return list ? **list : kNone;
}

std::string or_else(std::string text, std::string_view otherwise) {
  return text.empty() ? std::string(otherwise) : text;
}

std::string_view condition_of(const json::Value& object, std::string_view type) {
  for (const auto& condition : list_of(object, "/status/conditions"))
    if (json::text_or(condition, "/type", "") == type)
      return json::text_or(condition, "/status", "");
  return "";
}

std::string labels_text(const json::Value& object, std::string_view pointer) {
  return joined(label_texts(object, pointer));
}

std::string selector_text(const json::Value& object, std::string_view pointer) {
  auto texts = label_texts(object, fmt::format("{}/matchLabels", pointer));
  for (const auto& requirement : list_of(object, fmt::format("{}/matchExpressions", pointer)))
    texts.emplace_back(text_of(requirement, "/key"), requirement_text(requirement));
  return joined(std::move(texts));
}

}  // namespace quorate::apiserver

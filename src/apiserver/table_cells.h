#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/document.h"

// What the printers of tables write into cells. Inside table*.cc.
namespace quorate::apiserver {

// In the words of Kubernetes: 45s, 5m10s, 12m, 3h12m, 2d5h, 41d, 2y10d; <invalid> if negative.
[[nodiscard]] std::string human_duration(Duration duration);
// Since the time that stands there; <unknown> if none does.
[[nodiscard]] std::string time_since(const json::Value& object, std::string_view pointer,
                                     WallTime now);
// Since the object was made.
[[nodiscard]] std::string age_of(const json::Value& object, WallTime now);

// What stands at the pointer: "" and 0 if nothing does.
[[nodiscard]] std::string text_of(const json::Value& object, std::string_view pointer);
[[nodiscard]] std::int64_t number_of(const json::Value& object, std::string_view pointer);
[[nodiscard]] std::size_t size_of(const json::Value& object, std::string_view pointer);
[[nodiscard]] std::vector<std::string> texts_of(const json::Value& object,
                                                std::string_view pointer);
// The list that stands there; an empty one if none does.
[[nodiscard]] const json::Array& list_of(const json::Value& object, std::string_view pointer);

// The text, or what is said instead of an empty one.
[[nodiscard]] std::string or_else(std::string text, std::string_view otherwise);

// "True" of the condition of this type, or "" if there is none.
[[nodiscard]] std::string_view condition_of(const json::Value& object, std::string_view type);

// Labels as `a=b,c=d` and a LabelSelector as `a=b,c in (d,e)`; <none> if empty.
[[nodiscard]] std::string labels_text(const json::Value& object, std::string_view pointer);
[[nodiscard]] std::string selector_text(const json::Value& object, std::string_view pointer);

}  // namespace quorate::apiserver

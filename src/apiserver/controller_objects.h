#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "json/document.h"
#include "json/selector.h"

// What several controllers read from objects, and write into them.
namespace quorate::apiserver {

[[nodiscard]] json::Labels labels_at(const json::Value& object, std::string_view pointer);
// By a metav1.LabelSelector at a pointer; one that is absent or malformed matches nothing.
[[nodiscard]] bool selects(const json::Value& object, std::string_view selector_pointer,
                           const json::Value& other);

// The condition of a type, or nullptr.
[[nodiscard]] const json::Value* find_condition(const json::Value& object, std::string_view type);
[[nodiscard]] bool has_condition(const json::Value& object, std::string_view type,
                                 std::string_view status);
// Puts a condition in the place of the one of its type. lastTransitionTime is set if its status
// changes, and kept otherwise.
void put_condition(json::Value& object, json::Object condition, WallTime now);

// --- Pods
[[nodiscard]] bool is_pod_ready(const json::Value& pod);
[[nodiscard]] bool is_pod_finished(const json::Value& pod);  // Succeeded or Failed
[[nodiscard]] std::string_view node_of(const json::Value& pod);

// The UID of the owner that controls the object, or "".
[[nodiscard]] std::string_view controller_uid(const json::Value& object);
// A reference to an owner that controls and that waits for the dependent to go.
[[nodiscard]] json::Value make_controller_reference(const json::Value& owner);

// The time at a pointer, if there is one.
[[nodiscard]] std::optional<WallTime> time_at(const json::Value& object, std::string_view pointer);

}  // namespace quorate::apiserver

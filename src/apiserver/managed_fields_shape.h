#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/managed_fields_set.h"
#include "apiserver/schema.h"
#include "json/document.h"

// How apply sees values. Inside managed_fields_*.cc.
namespace quorate::apiserver {

enum class Shape { kScalar, kList, kMap };

// How a value at this place is treated; `value` may be absent.
[[nodiscard]] Shape shape_of(const Schema& schema, const json::Value* value);
// Counts as one field.
[[nodiscard]] bool is_atomic(const Schema& schema, Shape shape);
// What nobody declared: maps are merged, lists are atomic.
[[nodiscard]] const Schema& undeclared();
[[nodiscard]] const Schema& member_of(const Schema& schema, std::string_view key);
[[nodiscard]] const Schema& element_of(const Schema& schema);
// How an element of a set or map is called; `problem` says why it cannot be.
[[nodiscard]] std::optional<PathElement> name_of(const json::Value& element, const Schema& list,
                                                 std::string* problem = nullptr);

}  // namespace quorate::apiserver

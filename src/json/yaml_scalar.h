#pragma once

#include <optional>
#include <string_view>

#include "json/document.h"

namespace quorate::json {

// What kubectl takes a plain (unquoted) YAML scalar for: null, a boolean, a number, or else the
// text itself. Nothing for .inf and .nan, which JSON cannot say. Floats that are whole numbers
// become integers, as they do on kubectl's way through JSON.
[[nodiscard]] std::optional<Value> resolve_plain_scalar(std::string_view text);

}  // namespace quorate::json

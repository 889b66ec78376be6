#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quorate::json {

// JSON pointers taken apart. Inside this library; others use find, put and remove of document.h.

// The names between the slashes, unescaped; nothing for a malformed pointer.
[[nodiscard]] std::optional<std::vector<std::string>> pointer_names(std::string_view pointer);

// An index as RFC 6901 writes it: no sign, no leading zeros.
[[nodiscard]] std::optional<std::size_t> pointer_index(std::string_view name);

}  // namespace quorate::json

#pragma once

#include <cstddef>

#include "json/document.h"

namespace quorate::json {

// How large a value is; for limits inside this library.
struct Extent {
  std::size_t values = 1;  // itself and all inside of it
  std::size_t bytes = 0;   // of strings and keys
  std::size_t depth = 0;   // of nested objects and arrays
};

[[nodiscard]] Extent measure(const Value& value);

}  // namespace quorate::json

#pragma once

#include <string>

#include "base/result.h"

// Internal. What files.cc does on a thread of the pool, for those who may hold their thread up.
namespace quorate::rt::detail {

// kNotFound; kInvalid if it is larger than `limit` or not a file.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t limit);

// Written as `aside`, synced, renamed into place, directory synced.
[[nodiscard]] Result<void> replace_file(const std::string& path, const std::string& aside,
                                        const std::string& contents, unsigned mode);

}  // namespace quorate::rt::detail

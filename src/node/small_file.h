#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace quorate::node {

// At most `limit` bytes of a file; the rest is left out.
[[nodiscard]] Result<std::string> read_small_file(const std::string& path,
                                                  std::size_t limit = 1 << 20);

// Readers see the old content or the new, never a part. It is not synced: what is written this way
// describes processes of this boot, or can be made again.
Result<void> write_small_file(const std::string& path, std::string_view content, int mode = 0600);

// Makes the directory and those above it.
Result<void> make_directories(const std::string& path);

// Removes a whole tree, also one with directories that are not writable. Ok if there is none.
Result<void> remove_tree(const std::string& path);

}  // namespace quorate::node

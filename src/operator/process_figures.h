#pragma once

#include <cstdint>
#include <optional>

namespace quorate::op {

// What the kernel says of this process. Absent: it does not say.
struct ProcessFigures {
  double cpu_seconds = 0;  // user and kernel
  std::optional<std::uint64_t> resident_bytes;
  std::optional<std::uint64_t> open_files;
  std::optional<std::uint64_t> max_files;
};

[[nodiscard]] ProcessFigures read_process_figures();

}  // namespace quorate::op

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

// Gives back the memory of code and constants of this program and its libraries: what is still
// needed comes back from the files by itself, when it is touched. For the end of the start, which
// needs much of them (relocation, flags, configuration, first lists) that is not needed again.
//
// Guarantees   only mappings that cannot have been written to are given back.
void give_back_program_pages();

}  // namespace quorate::op

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quorate::node {

// A process that cannot be mistaken for a later one with the same pid: the kernel's start time
// (ticks since boot) goes with it. Fit to be written to a file and read back after a crash.
struct ProcessId {
  int pid = 0;
  std::uint64_t start = 0;

  // Of a process that exists now; also of one that has ended and waits to be reaped.
  [[nodiscard]] static std::optional<ProcessId> of(int pid);
  [[nodiscard]] static std::optional<ProcessId> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  // True while this very process runs (a zombie does not).
  [[nodiscard]] bool runs() const;
  // Sends the signal to this very process or to nobody. False if it is gone or not ours.
  bool signal(int number) const;

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

}  // namespace quorate::node

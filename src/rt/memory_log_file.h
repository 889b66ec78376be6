#pragma once

#include <functional>
#include <optional>

#include "rt/log_file.h"

namespace quorate::rt {

// A log file in memory, for tests: at every moment inside of a call the observer is shown all that
// a power cut at that moment could leave on the disk.
class MemoryLogFile final : public LogFile {
 public:
  // What may be there after a cut. Nothing: no file.
  using Remains = std::optional<std::string>;
  std::function<void(const Remains& remains)> on_moment;

  MemoryLogFile() = default;
  explicit MemoryLogFile(Remains contents) : synced_(std::move(contents)) {}

  Result<std::string> read(Bytes limit) override;
  Result<void> replace(const std::string& contents) override;
  Result<void> append(std::string_view bytes) override;

  // From now on every write fails, as on a full disk, after so many bytes.
  void fill_up(std::size_t left) { left_ = left; }
  const Remains& synced() const { return synced_; }

 private:
  void show(const Remains& remains) const;

  Remains synced_;
  bool open_ = false;
  std::optional<std::size_t> left_;
};

}  // namespace quorate::rt

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "node/log_times.h"
#include "rt/fd.h"

namespace quorate::node {

// Reads what a run of a container has said from its files (container_log.h), while more may come.
class LogReader {
 public:
  struct Options {
    bool previous = false;              // the run before the last one
    std::optional<std::uint64_t> tail;  // only so many of the last lines
    std::optional<WallTime> since;      // only what was said from then on
    bool timestamps = false;            // before each line, when it was begun
  };

  // `folder` has the files of a container's runs (node_dirs.h). kNotFound if there is no such run.
  [[nodiscard]] static Result<LogReader> open(const std::string& folder, const Options& options);

  // The next piece; empty if nothing more is there now.
  [[nodiscard]] Result<std::string> read();
  // Which run it is.
  [[nodiscard]] int attempt() const { return attempt_; }

 private:
  LogReader(std::string path, int attempt) : path_(std::move(path)), attempt_(attempt) {}
  // Of the present one, or the one before.
  bool open_file(const std::string& path);
  // Both look at the present file alone.
  Result<std::int64_t> find_tail(std::uint64_t lines) const;
  std::int64_t find_time(WallTime since);
  // The text that begins at `offset_`, with the time before each line.
  std::string stamp(std::string_view text);
  // True if another file has taken the place of the one that was read to its end.
  Result<bool> follow_rotation();

  std::string path_;
  int attempt_;
  rt::Fd file_;
  bool timestamps_ = false;
  bool in_line_ = false;     // the last piece ended within a line
  std::int64_t offset_ = 0;  // of what is read next
  std::optional<LogTimesReader> times_;
};

}  // namespace quorate::node

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "rt/fd.h"

namespace quorate::node {

// When what was said, beside a log file (container_log.h): lines of an offset into it, and when the
// text from there on was said, in milliseconds since the epoch.
class LogTimes {
 public:
  // Appends to what is there.
  [[nodiscard]] static Result<LogTimes> open(const std::string& log);

  // To be called before the text is written, so that a reader of the text finds its time.
  void note(std::size_t offset, WallTime when);

  // Where they are, for a log's path.
  static std::string path_of(const std::string& log) { return log + ".times"; }

 private:
  explicit LogTimes(rt::Fd file) : file_(std::move(file)) {}

  rt::Fd file_;
  std::optional<WallTime> last_;
};

// Reads them, while more may come.
class LogTimesReader {
 public:
  // Knows nothing if there are none.
  explicit LogTimesReader(const std::string& log);

  // When the text at the offset was said; nothing if nobody noted it.
  [[nodiscard]] std::optional<WallTime> find(std::int64_t offset);
  // Where the text begins that was said from then on; nothing if there is none yet.
  [[nodiscard]] std::optional<std::int64_t> find_since(WallTime when);

 private:
  struct Entry {
    std::int64_t offset;
    WallTime when;
  };
  void read_on();

  rt::Fd file_;
  std::string unread_;          // of a line that is not whole yet
  std::vector<Entry> entries_;  // in order
};

}  // namespace quorate::node

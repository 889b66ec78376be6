#include "node/log_times.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/strings.h"

namespace quorate::node {

Result<LogTimes> LogTimes::open(const std::string& log) {
  const auto path = path_of(log);
  rt::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  if (!file) return fail(errno_error("open " + path, errno));
  return LogTimes(std::move(file));
}

void LogTimes::note(std::size_t offset, WallTime when) {
  if (last_ == when) return;
  last_ = when;
  const auto line = fmt::format("{} {}\n", offset, when.time_since_epoch().count());
  [[maybe_unused]] auto put = ::write(file_.get(), line.data(), line.size());
}

LogTimesReader::LogTimesReader(const std::string& log)
    : file_(::open(LogTimes::path_of(log).c_str(), O_RDONLY | O_CLOEXEC)) {}

void LogTimesReader::read_on() {
  char piece[16 << 10];
  while (file_) {
    const auto got = ::read(file_.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    unread_.append(piece, static_cast<std::size_t>(got));
    const auto whole = unread_.rfind('\n') + 1;
    for (const auto line : split(std::string_view(unread_).substr(0, whole), '\n')) {
      const auto parts = cut(line, " ");
      const auto offset = parts ? parse_integer(parts->before) : std::nullopt;
      const auto when = parts ? parse_integer(parts->after) : std::nullopt;
      if (offset && when) entries_.push_back({*offset, WallTime(std::chrono::milliseconds(*when))});
    }
    unread_.erase(0, whole);
  }
}

std::optional<WallTime> LogTimesReader::find(std::int64_t offset) {
  read_on();
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), offset,
                       [](std::int64_t at, const Entry& entry) { return at < entry.offset; });
  if (after == entries_.begin()) return std::nullopt;
  return std::prev(after)->when;
}

std::optional<std::int64_t> LogTimesReader::find_since(WallTime when) {
  read_on();
  for (const auto& entry : entries_)
    if (entry.when >= when) return entry.offset;
  return std::nullopt;
}

}  // namespace quorate::node

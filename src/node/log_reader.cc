#include "node/log_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "base/strings.h"
#include "node/container_log.h"
#include "node/small_file.h"

namespace quorate::node {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = 64 << 10;
constexpr std::size_t kTimesLimit = 64 << 20;

// The runs of which there is a log.
std::set<int> find_runs(const std::string& folder) {
  std::set<int> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().string();
    const auto parts = cut(name, ".");
    const auto number =
        parts && parts->after == "log" ? parse_integer(parts->before) : std::nullopt;
    if (number) out.insert(static_cast<int>(*number));
  }
  return out;
}

Result<std::string> read_piece(int file, off_t from, std::size_t size) {
  std::string out(size, '\0');
  const auto got = ::pread(file, out.data(), out.size(), from);
  if (got < 0) return fail(errno_error("read a log", errno));
  out.resize(static_cast<std::size_t>(got));
  return out;
}

}  // namespace

Result<LogReader> LogReader::open(const std::string& folder, const Options& options) {
  auto runs = find_runs(folder);
  if (options.previous && !runs.empty()) runs.erase(std::prev(runs.end()));
  if (runs.empty())
    return fail(Code::kNotFound,
                options.previous ? "there is no earlier run" : "it has not run yet");
  const int attempt = *runs.rbegin();
  LogReader out(fmt::format("{}/{}.log", folder, attempt), attempt);
  // From the beginning: also what was said before the log was cut, if it was.
  const bool whole = !options.tail && !options.since;
  if (whole) out.file_.reset(::open((out.path_ + ".1").c_str(), O_RDONLY | O_CLOEXEC));
  if (!out.file_) out.file_.reset(::open(out.path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!out.file_) return fail(errno_error("open " + out.path_, errno));
  std::int64_t begin = options.since ? out.find_time(*options.since) : 0;
  if (options.tail) {
    TRY(const auto tail, out.find_tail(*options.tail));
    begin = std::max(begin, tail);
  }
  ::lseek(out.file_.get(), begin, SEEK_SET);
  return out;
}

Result<std::int64_t> LogReader::find_tail(std::uint64_t lines) const {
  struct stat facts {};
  if (::fstat(file_.get(), &facts) != 0) return fail(errno_error("stat " + path_, errno));
  if (lines == 0) return facts.st_size;
  std::uint64_t seen = 0;
  for (off_t begin = facts.st_size; begin > 0;) {
    const auto size = std::min<off_t>(begin, kPiece);
    begin -= size;
    TRY(const auto piece, read_piece(file_.get(), begin, static_cast<std::size_t>(size)));
    for (std::size_t i = piece.size(); i > 0; --i) {
      const off_t at = begin + static_cast<off_t>(i);
      // A line feed ends a line; the one at the very end begins none.
      if (piece[i - 1] == '\n' && at != facts.st_size && ++seen == lines) return at;
    }
  }
  return 0;
}

std::int64_t LogReader::find_time(WallTime since) const {
  const auto from = std::chrono::floor<std::chrono::seconds>(since).time_since_epoch().count();
  const auto times = read_small_file(ContainerLog::times_of(path_), kTimesLimit);
  for (const auto line : split(times ? *times : std::string_view(), '\n')) {
    const auto parts = cut(line, " ");
    const auto offset = parts ? parse_integer(parts->before) : std::nullopt;
    const auto second = parts ? parse_integer(parts->after) : std::nullopt;
    if (offset && second && *second >= from) return *offset;
  }
  return std::max<std::int64_t>(::lseek(file_.get(), 0, SEEK_END), 0);  // what is still to come
}

Result<bool> LogReader::follow_rotation() {
  struct stat ours {};
  struct stat present {};
  if (::fstat(file_.get(), &ours) != 0 || ::stat(path_.c_str(), &present) != 0) return false;
  if (ours.st_ino == present.st_ino && ours.st_dev == present.st_dev) return false;
  rt::Fd next(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!next) return fail(errno_error("open " + path_, errno));
  file_ = std::move(next);
  return true;
}

Result<std::string> LogReader::read() {
  std::string out(kPiece, '\0');
  for (;;) {
    const auto got = ::read(file_.get(), out.data(), out.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error("read " + path_, errno));
    if (got > 0) {
      out.resize(static_cast<std::size_t>(got));
      return out;
    }
    TRY(const auto another, follow_rotation());
    if (!another) return std::string();
  }
}

}  // namespace quorate::node

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
#include "json/timestamp.h"

namespace quorate::node {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = 64 << 10;

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
  auto got = ::pread(file, out.data(), out.size(), from);
  while (got < 0 && errno == EINTR) got = ::pread(file, out.data(), out.size(), from);
  if (got < 0) return fail(errno_error("read a log", errno));
  out.resize(static_cast<std::size_t>(got));
  return out;
}

// As a kubelet says it: nine digits, though ours are three.
std::string render_log_time(WallTime when) {
  auto out = json::render_micro_time(when);
  out.insert(out.size() - 1, "000");
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
  if (!(whole && out.open_file(out.path_ + ".1")) && !out.open_file(out.path_))
    return fail(errno_error("open " + out.path_, errno));
  out.timestamps_ = options.timestamps;
  if (options.since) out.offset_ = out.find_time(*options.since);
  if (options.tail) {
    TRY(const auto tail, out.find_tail(*options.tail));
    out.offset_ = std::max(out.offset_, tail);
  }
  return out;
}

bool LogReader::open_file(const std::string& path) {
  rt::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  file_ = std::move(file);
  times_.emplace(path);
  offset_ = 0;
  return true;
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

std::int64_t LogReader::find_time(WallTime since) {
  if (const auto begin = times_->find_since(since)) return *begin;
  return std::max<std::int64_t>(::lseek(file_.get(), 0, SEEK_END), 0);  // what is still to come
}

Result<bool> LogReader::follow_rotation() {
  struct stat ours {};
  struct stat present {};
  if (::fstat(file_.get(), &ours) != 0 || ::stat(path_.c_str(), &present) != 0) return false;
  if (ours.st_ino == present.st_ino && ours.st_dev == present.st_dev) return false;
  if (!open_file(path_)) return fail(errno_error("open " + path_, errno));
  return true;
}

std::string LogReader::stamp(std::string_view text) {
  std::string out;
  for (auto offset = offset_; !text.empty();) {
    if (!in_line_)
      if (const auto when = times_->find(offset)) out += render_log_time(*when) + " ";
    const auto end = text.find('\n');
    const auto line = text.substr(0, end == std::string_view::npos ? end : end + 1);
    in_line_ = line.back() != '\n';
    out += line;
    offset += static_cast<std::int64_t>(line.size());
    text.remove_prefix(line.size());
  }
  return out;
}

Result<std::string> LogReader::read() {
  for (;;) {
    TRY(auto piece, read_piece(file_.get(), offset_, kPiece));
    if (!piece.empty()) {
      auto out = timestamps_ ? stamp(piece) : piece;
      offset_ += static_cast<std::int64_t>(piece.size());
      return out;
    }
    TRY(const auto another, follow_rotation());
    if (!another) return std::string();
  }
}

}  // namespace quorate::node

#include "node/container_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "node/small_file.h"
#include "node/socket_io.h"

namespace quorate::node {
namespace {

constexpr std::size_t kPiece = 16 << 10;

rt::Fd open_for_append(const std::string& path) {
  return rt::Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
}

}  // namespace

Result<ContainerLog> ContainerLog::open(std::string path, std::size_t limit,
                                        const rt::Clock& clock) {
  auto file = open_for_append(path);
  if (!file) return fail(errno_error("open " + path, errno));
  TRY(auto times, LogTimes::open(path));
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return fail(errno_error("stat " + path, errno));
  return ContainerLog(std::move(path), limit, clock, std::move(file), std::move(times),
                      static_cast<std::size_t>(facts.st_size));
}

void ContainerLog::write(std::string_view bytes) {
  if (!bytes.empty()) times_.note(size_, clock_->wall());
  while (!bytes.empty()) {
    auto put = ::write(file_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;
    size_ += static_cast<std::size_t>(put);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void ContainerLog::rotate() {
  const auto old = path_ + ".1";
  if (::rename(path_.c_str(), old.c_str()) != 0) return;
  // Without it the old text has the times of another: none are better.
  if (::rename(LogTimes::path_of(path_).c_str(), LogTimes::path_of(old).c_str()) != 0)
    ::unlink(LogTimes::path_of(old).c_str());
  auto next = open_for_append(path_);
  auto times = LogTimes::open(path_);
  if (!next || !times) return;
  file_ = std::move(next);
  times_ = std::move(*times);
  size_ = 0;
}

void ContainerLog::append(std::string_view bytes) {
  if (size_ + bytes.size() > limit_ && size_ > 0) {
    auto line_end = bytes.find('\n');
    auto rest_of_line = line_end == std::string_view::npos ? 0 : line_end + 1;
    write(bytes.substr(0, rest_of_line));
    bytes.remove_prefix(rest_of_line);
    rotate();
  }
  write(bytes);
}

std::string ContainerLog::tail(std::size_t limit) const {
  rt::Fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  if (size_ > limit) ::lseek(file.get(), static_cast<off_t>(size_ - limit), SEEK_SET);
  std::string out(limit, '\0');
  auto got = ::read(file.get(), out.data(), out.size());
  out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return out;
}

Task<void> ContainerLog::pump(net::Socket& pipe) {
  while (true) {
    auto piece = co_await read_some(pipe, kPiece, rt::Deadline::never());
    if (!piece || piece->empty()) co_return;
    append(*piece);
  }
}

}  // namespace quorate::node

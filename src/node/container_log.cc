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
  auto times = open_for_append(times_of(path));
  if (!times) return fail(errno_error("open " + times_of(path), errno));
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return fail(errno_error("stat " + path, errno));
  return ContainerLog(std::move(path), limit, clock, std::move(file), std::move(times),
                      static_cast<std::size_t>(facts.st_size));
}

void ContainerLog::note_time() {
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_->wall());
  const auto second = static_cast<std::int64_t>(now.time_since_epoch().count());
  if (second == noted_) return;
  noted_ = second;
  const auto line = fmt::format("{} {}\n", size_, second);
  [[maybe_unused]] auto put = ::write(times_.get(), line.data(), line.size());
}

void ContainerLog::write(std::string_view bytes) {
  if (!bytes.empty()) note_time();
  while (!bytes.empty()) {
    auto put = ::write(file_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;
    size_ += static_cast<std::size_t>(put);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void ContainerLog::rotate() {
  if (::rename(path_.c_str(), (path_ + ".1").c_str()) != 0) return;
  if (auto next = open_for_append(path_)) {
    file_ = std::move(next);
    size_ = 0;
    noted_ = 0;
    [[maybe_unused]] auto emptied = ::ftruncate(times_.get(), 0);
  }
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

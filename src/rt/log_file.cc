#include "rt/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "rt/blocking_files.h"

namespace quorate::rt {

Result<std::string> MachineLogFile::read(Bytes limit) {
  return detail::read_file(path_, static_cast<std::size_t>(limit.value()));
}

Result<void> MachineLogFile::replace(const std::string& contents) {
  end_.reset();
  // One process writes here: what an earlier one left aside is nobody's.
  const auto aside = path_ + ".aside";
  if (::unlink(aside.c_str()) != 0 && errno != ENOENT)
    return fail(errno_error("remove " + aside, errno));
  TRY(detail::replace_file(path_, aside, contents, 0600));
  Fd end(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!end) return fail(errno_error("open " + path_, errno));
  end_ = std::move(end);
  return {};
}

Result<void> MachineLogFile::append(std::string_view bytes) {
  if (!end_) return fail(Code::kUnavailable, "append to " + path_ + ": it is not open");
  auto written = write(bytes);
  if (!written) end_.reset();
  return written;
}

Result<void> MachineLogFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto put = ::write(end_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(errno_error("append to " + path_, errno));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fdatasync(end_.get()) != 0) return fail(errno_error("sync " + path_, errno));
  return {};
}

}  // namespace quorate::rt

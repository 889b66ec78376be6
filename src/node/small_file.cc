#include "node/small_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "rt/fd.h"

namespace quorate::node {

Result<std::string> read_small_file(const std::string& path, std::size_t limit) {
  rt::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(errno_error("open " + path, errno));
  std::string text;
  std::array<char, 4096> buffer;
  while (text.size() < limit) {
    auto got = ::read(fd.get(), buffer.data(), std::min(buffer.size(), limit - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error("read " + path, errno));
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

Result<void> write_small_file(const std::string& path, std::string_view content, int mode) {
  auto aside = path + ".new";
  ::unlink(aside.c_str());
  rt::Fd fd(::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return fail(errno_error("create " + aside, errno));
  while (!content.empty()) {
    auto put = ::write(fd.get(), content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(errno_error("write " + aside, errno));
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0)
    return fail(errno_error("chmod " + aside, errno));
  if (::rename(aside.c_str(), path.c_str()) != 0)
    return fail(errno_error(fmt::format("rename {} to {}", aside, path), errno));
  return {};
}

Result<void> make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(errno_error("make directory " + path, error.value()));
  return {};
}

Result<void> remove_tree(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return {};
  // A program may have taken away its own right to write: give it back, then try once more.
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(path, ignored), end; it != end; it.increment(ignored)) {
    if (it->is_directory(ignored) && !it->is_symlink(ignored))
      fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
  }
  fs::remove_all(path, error);
  if (error) return fail(errno_error("remove " + path, error.value()));
  return {};
}

}  // namespace quorate::node

#include "rt/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "rt/blocking_files.h"
#include "rt/cpu_pool.h"
#include "rt/fd.h"

namespace quorate::rt {

namespace {

// ---- What blocks. These run on a thread of the pool and touch nothing but their arguments.

std::string directory_of(const std::string& path) {
  auto parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

tl::unexpected<Error> failed(std::string_view what, const std::string& path) {
  const int number = errno;
  auto error = errno_error(fmt::format("{} {}", what, path), number);
  if (number == ENOTDIR || number == EISDIR) return fail(std::move(error).as(Code::kInvalid));
  if (number == ENOTEMPTY) return fail(std::move(error).as(Code::kConflict));
  return fail(std::move(error));
}

Result<Fd> open_for_reading(std::string_view what, const std::string& path, int flags = 0) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  if (!fd) return failed(what, path);
  return fd;
}

Result<void> sync_directory(std::string_view what, const std::string& path) {
  TRY(auto fd, open_for_reading(what, path, O_DIRECTORY));
  if (::fsync(fd.get()) != 0) return failed(what, path);
  return {};
}

// A new name that may not be durable: it has been seen, and may be gone after a power cut.
Result<void> sync_new_name(std::string_view what, const std::string& path) {
  auto synced = sync_directory("sync directory", directory_of(path));
  if (synced) return {};
  return fail(
      std::move(synced.error()).in(fmt::format("{} {}", what, path)).as(Code::kUnknownOutcome));
}

Result<void> write_and_sync(const std::string& path, const std::string& contents, unsigned mode) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return failed("create", path);
  std::size_t written = 0;
  while (written < contents.size()) {
    ssize_t put = ::write(fd.get(), contents.data() + written, contents.size() - written);
    if (put < 0 && errno != EINTR) return failed("write", path);
    written += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
  }
  if (::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) return failed("set mode of", path);
  if (::fsync(fd.get()) != 0) return failed("sync", path);
  return {};
}

Result<FileInfo> file_info(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return failed("look at", path);
  auto kind = S_ISREG(status.st_mode)   ? FileInfo::Kind::kFile
              : S_ISDIR(status.st_mode) ? FileInfo::Kind::kDirectory
                                        : FileInfo::Kind::kOther;
  return FileInfo{kind, Bytes(status.st_size), status.st_mode & 07777U};
}

Result<void> change_mode(const std::string& path, unsigned mode) {
  TRY(auto fd, open_for_reading("set mode of", path, O_NONBLOCK));
  if (::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) return failed("set mode of", path);
  if (::fsync(fd.get()) != 0) return failed("sync", path);
  return {};
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
  std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return failed("list", path);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (!entry && errno != 0) return failed("list", path);
    if (!entry) break;
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> remove_path(const std::string& path) {
  if (::remove(path.c_str()) != 0) return failed("remove", path);
  return sync_new_name("remove", path);
}

Result<void> make_directory_and_parents(const std::string& path, unsigned mode) {
  auto there = file_info(path);
  if (there && there->kind == FileInfo::Kind::kDirectory) return {};
  if (there) return fail(Error(Code::kInvalid, "not a directory").in("make directory " + path));
  if (there.error() != Code::kNotFound) return fail(there.error());
  TRY(make_directory_and_parents(directory_of(path), mode));
  if (::mkdir(path.c_str(), static_cast<mode_t>(mode)) != 0 && errno != EEXIST)
    return failed("make directory", path);
  return sync_new_name("make directory", path);
}

}  // namespace

namespace detail {

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  TRY(auto fd,
      open_for_reading("read", path, O_NONBLOCK));  // a pipe without a writer must not hold us
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return failed("read", path);
  if (!S_ISREG(status.st_mode))
    return fail(Error(Code::kInvalid, "not a regular file").in("read " + path));
  std::string contents;
  // The size may change under us, and some files (in /proc) have none: read until the end.
  for (;;) {
    const std::size_t had = contents.size();
    contents.resize(std::min(limit + 1, std::max<std::size_t>(had * 2, 4096)));
    ssize_t got = ::read(fd.get(), contents.data() + had, contents.size() - had);
    if (got < 0 && errno != EINTR) return failed("read", path);
    contents.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (contents.size() > limit)
      return fail(
          Error(Code::kInvalid, fmt::format("larger than {} bytes", limit)).in("read " + path));
    if (got == 0) return contents;
  }
}

Result<void> replace_file(const std::string& path, const std::string& aside,
                          const std::string& contents, unsigned mode) {
  auto written = write_and_sync(aside, contents, mode);
  if (written && ::rename(aside.c_str(), path.c_str()) != 0) written = failed("rename", aside);
  if (!written) {
    ::unlink(aside.c_str());
    return fail(std::move(written.error()).in("write " + path));
  }
  return sync_new_name("write", path);
}

}  // namespace detail

Task<Result<bool>> Files::exists(std::string path) {
  auto found = co_await info(std::move(path));
  if (found) co_return true;
  if (found.error() == Code::kNotFound) co_return false;
  co_return fail(found.error());
}

Task<Result<std::string>> MachineFiles::read(std::string path, Bytes limit) {
  auto bound = static_cast<std::size_t>(limit.value());
  return pool_.run([path = std::move(path), bound] { return detail::read_file(path, bound); });
}

Task<Result<void>> MachineFiles::write_atomically(std::string path, std::string contents,
                                                  unsigned mode) {
  auto aside = fmt::format("{}.aside-{:016x}", path, runtime_.random->next());
  return pool_.run([path = std::move(path), aside = std::move(aside),
                    contents = std::move(contents),
                    mode] { return detail::replace_file(path, aside, contents, mode); });
}

Task<Result<FileInfo>> MachineFiles::info(std::string path) {
  return pool_.run([path = std::move(path)] { return file_info(path); });
}

Task<Result<void>> MachineFiles::set_mode(std::string path, unsigned mode) {
  return pool_.run([path = std::move(path), mode] { return change_mode(path, mode); });
}

Task<Result<std::vector<std::string>>> MachineFiles::list(std::string path) {
  return pool_.run([path = std::move(path)] { return list_directory(path); });
}

Task<Result<void>> MachineFiles::remove(std::string path) {
  return pool_.run([path = std::move(path)] { return remove_path(path); });
}

Task<Result<void>> MachineFiles::make_directories(std::string path, unsigned mode) {
  return pool_.run(
      [path = std::move(path), mode] { return make_directory_and_parents(path, mode); });
}

}  // namespace quorate::rt

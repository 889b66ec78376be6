#include "sandbox/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "node/small_file.h"

namespace quorate::sandbox {
namespace {

namespace fs = std::filesystem;

// Locks of this kind belong to the open file, and can be looked at without being taken.
struct flock whole_file() {
  struct flock out {};
  out.l_type = F_WRLCK;
  out.l_whence = SEEK_SET;
  return out;
}

}  // namespace

Folder::Folder(const std::string& path) : path_(fs::absolute(path).lexically_normal().string()) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
}

Result<void> Folder::make() const {
  if (fs::exists(path_)) return {};
  TRY(node::make_directories(path_));
  if (::chmod(path_.c_str(), 0700) != 0) return fail(errno_error("set mode of " + path_, errno));
  return {};
}

bool Folder::is_ours() const { return fs::exists(lock_file()); }

Result<rt::Fd> Folder::lock() const {
  rt::Fd fd(::open(lock_file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return fail(errno_error("open " + lock_file(), errno));
  auto whole = whole_file();
  if (::fcntl(fd.get(), F_OFD_SETLK, &whole) != 0) {
    if (errno != EAGAIN && errno != EACCES) return fail(errno_error("lock " + lock_file(), errno));
    const auto other = named();
    if (!other || other->runs())
      return fail(Code::kConflict,
                  fmt::format("a sandbox runs in {} already{}", path_,
                              other ? fmt::format(" (process {})", other->pid) : ""));
    // It was killed a moment ago, and its children, which die with it, are about to let go.
    if (::fcntl(fd.get(), F_OFD_SETLKW, &whole) != 0)
      return fail(errno_error("lock " + lock_file(), errno));
  }
  const auto self = node::ProcessId::of(::getpid());
  const auto text = (self ? self->text() : "") + "\n";
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return fail(errno_error("write " + lock_file(), errno));
  return fd;
}

std::optional<node::ProcessId> Folder::named() const {
  const auto text = node::read_small_file(lock_file());
  return text ? node::ProcessId::parse(*text) : std::nullopt;
}

std::optional<node::ProcessId> Folder::holder() const {
  rt::Fd fd(::open(lock_file().c_str(), O_RDWR | O_CLOEXEC));
  auto whole = whole_file();
  if (!fd || ::fcntl(fd.get(), F_OFD_GETLK, &whole) != 0 || whole.l_type == F_UNLCK)
    return std::nullopt;
  const auto process = named();
  return process && process->runs() ? process : std::nullopt;
}

Result<void> Folder::remove() const {
  for (const auto& part :
       {kubeconfig(), log(), objects(), objects() + ".aside", credentials(), reach(), switches(),
        images(), etcd(), path_ + "/fabric", path_ + "/resolv.conf"}) {
    std::error_code failed;
    fs::remove(part, failed);
    if (failed) return fail(Code::kUnavailable, "remove " + part + ": " + failed.message());
  }
  for (const auto& tree : {nodes(), image(), clients()}) TRY(node::remove_tree(tree));
  std::error_code ignored;
  fs::remove(lock_file(), ignored);
  fs::remove(path_, ignored);  // not if there is something else in it
  return {};
}

}  // namespace quorate::sandbox

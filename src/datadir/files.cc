#include "datadir/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "datadir/descriptor.h"
#include "datadir/reader.h"

namespace quorate::datadir {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<void> sync_folder(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return fail(errno_error("open " + path, errno));
  if (::fsync(folder.get()) != 0) return fail(errno_error("fsync " + path, errno));
  return {};
}

std::string parent_of(const std::string& path) {
  auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// etcd wants its folders for itself alone.
Result<void> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(errno_error("make " + path, errno));
  return sync_folder(parent_of(path));
}

// The number of the last transaction that one of a bbolt file's two heads tells of.
std::optional<std::uint64_t> last_transaction(std::string_view head) {
  constexpr std::uint32_t kMagic = 0xed0cdaed;
  constexpr std::size_t kHeader = 16;  // of the page
  constexpr std::size_t kTransaction = kHeader + 48;
  std::uint32_t magic = 0;
  std::uint64_t transaction = 0;
  if (head.size() < kTransaction + sizeof transaction) return std::nullopt;
  std::memcpy(&magic, head.data() + kHeader, sizeof magic);
  std::memcpy(&transaction, head.data() + kTransaction, sizeof transaction);
  return magic == kMagic ? std::optional(transaction) : std::nullopt;
}

// Whether a database was made and never used: what etcd leaves that ended before it had a log. One
// that was copied from somewhere went through more transactions: merely to start takes six.
Result<bool> is_unused_database(const std::string& path) {
  constexpr std::uint64_t kOnlyMade = 2;
  constexpr std::size_t kPage = 4096;
  TRY(auto file, FileReader::open(path));
  std::string begin;
  while (begin.size() < 2 * kPage) {
    TRY(const auto bytes, file.take(2 * kPage - begin.size()));
    if (bytes.empty()) break;
    begin += bytes;
  }
  const auto one = last_transaction(begin);
  const auto other = last_transaction(begin.size() > kPage ? begin.substr(kPage) : "");
  if (!one && !other) return begin.find_first_not_of('\0') == std::string::npos;
  return std::max(one.value_or(0), other.value_or(0)) <= kOnlyMade;
}

Result<void> write_all(int fd, const std::string& content, const std::string& path) {
  std::size_t done = 0;
  while (done < content.size()) {
    auto written = ::write(fd, content.data() + done, content.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(errno_error("write " + path, errno));
    done += static_cast<std::size_t>(written);
  }
  return {};
}

}  // namespace

Result<std::optional<std::vector<std::string>>> list_folder(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  if (!folder) {
    if (errno == ENOENT) return std::optional<std::vector<std::string>>();
    return fail(errno_error("open " + path, errno));
  }
  std::vector<std::string> names;
  errno = 0;
  while (const auto* entry = ::readdir(folder)) {
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  int failure = errno;
  ::closedir(folder);
  if (failure) return fail(errno_error("read " + path, failure));
  return std::optional(std::move(names));
}

Result<Folder> look_at(const std::string& data_dir) {
  TRY(auto top, list_folder(data_dir));
  if (!top || top->empty()) return Folder::kEmpty;
  TRY(auto member, list_folder(data_dir + "/member"));
  if (!member) return Folder::kOther;
  TRY(auto wal, list_folder(data_dir + "/member/wal"));
  if (wal)  // as etcd asks: any file of a log
    return std::any_of(wal->begin(), wal->end(),
                       [](const std::string& name) { return name.ends_with(".wal"); })
               ? Folder::kData
               : Folder::kOther;
  TRY(auto snap, list_folder(data_dir + "/member/snap"));
  if (!snap) return Folder::kOther;
  // A log is made as wal.tmp and renamed when it is whole.
  const bool begun = contains(*member, "wal.tmp");
  if (member->size() != (begun ? 2 : 1)) return Folder::kOther;
  if (snap->empty()) return begun ? Folder::kNoLog : Folder::kPrepared;
  if (snap->size() != 1 || snap->front() != "db") return Folder::kOther;
  TRY(const bool unused, is_unused_database(data_dir + "/member/snap/db"));
  return unused ? Folder::kNoLog : Folder::kOther;
}

Result<void> clear_leftovers(const std::string& data_dir) {
  for (const char* folder : {"/member/snap", "/member/wal.tmp"}) {
    TRY(const auto names, list_folder(data_dir + folder));
    if (!names) continue;
    for (const auto& name : *names) {
      const auto path = data_dir + folder + "/" + name;
      if (::unlink(path.c_str()) != 0) return fail(errno_error("delete " + path, errno));
    }
    TRY(sync_folder(data_dir + folder));
  }
  return {};
}

Result<bool> is_there(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) return true;
  if (errno == ENOENT) return false;
  return fail(errno_error("look for " + path, errno));
}

Result<void> sync_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return fail(errno_error("open " + path, errno));
  if (::fsync(file.get()) != 0) return fail(errno_error("fsync " + path, errno));
  return {};
}

Result<void> prepare(const std::string& data_dir) {
  TRY(make_folder(data_dir));
  TRY(make_folder(data_dir + "/member"));
  return make_folder(data_dir + "/member/snap");
}

Result<std::string> read_whole(const std::string& path, std::size_t limit) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return fail(errno_error("open " + path, errno));
  std::string content;
  std::vector<char> buffer(16384);
  while (true) {
    auto got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno_error("read " + path, errno));
    if (got == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(got));
    if (content.size() > limit) return fail(Code::kInvalid, path + " is too large");
  }
}

Result<std::optional<Note>> read_note(const std::string& path) {
  constexpr std::size_t kLimit = 4096;
  auto content = read_whole(path, kLimit);
  if (!content) {
    if (content.error() == Code::kNotFound) return std::optional<Note>();
    return fail(content.error());
  }
  TRY(auto note, in(path, parse_note(*content)));
  return std::optional(std::move(note));
}

Result<void> write_durably(const std::string& path, const std::string& content, unsigned mode) {
  auto aside = path + ".new";
  {
    Descriptor file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (!file) return fail(errno_error("open " + aside, errno));
    if (::fchmod(file.get(), mode) != 0) return fail(errno_error("chmod " + aside, errno));
    TRY(write_all(file.get(), content, aside));
    if (::fsync(file.get()) != 0) return fail(errno_error("fsync " + aside, errno));
  }
  if (::rename(aside.c_str(), path.c_str()) != 0)
    return fail(errno_error("rename " + aside, errno));
  return sync_folder(parent_of(path));
}

}  // namespace quorate::datadir

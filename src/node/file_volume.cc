#include "node/file_volume.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "base/strings.h"
#include "node/small_file.h"

namespace quorate::node {
namespace {

namespace fs = std::filesystem;

constexpr const char* kData = "..data";

Result<void> check_path(const std::string& path) {
  bool bad = path.empty() || path.front() == '/';
  for (auto part : split(path, '/')) bad = bad || part == ".." || part.empty();
  if (bad)
    return fail(Code::kInvalid, fmt::format("path \"{}\" leads outside of the volume", path));
  return {};
}

Result<void> add(FileSet& out, const std::string& path, std::string bytes, int mode) {
  TRY(check_path(path));
  out[path] = {std::move(bytes), mode};
  return {};
}

Result<void> add_object(FileSet& out, const FileSource& source, int default_mode,
                        const FileContext& context) {
  bool secret = source.kind == FileSource::Kind::kSecret;
  ObjectKey key{context.facts.pod.meta.key.ns, source.object};
  const auto* object = secret ? context.objects.secret(key) : context.objects.config_map(key);
  if (!object) {
    if (source.optional) return {};
    return fail(Code::kNotFound,
                fmt::format("{} \"{}\" not found", secret ? "secret" : "configmap", key.name));
  }
  if (source.items.empty()) {
    for (const auto& [name, bytes] : object->data) TRY(add(out, name, bytes, default_mode));
    return {};
  }
  for (const auto& item : source.items) {
    auto found = object->data.find(item.key);
    if (found != object->data.end()) {
      TRY(add(out, item.path, found->second, item.mode.value_or(default_mode)));
    } else if (!source.optional) {
      return fail(Code::kNotFound,
                  fmt::format("{} \"{}\" has no key {}", secret ? "secret" : "configmap", key.name,
                              item.key));
    }
  }
  return {};
}

Result<void> add_source(FileSet& out, const FileSource& source, int default_mode,
                        const FileContext& context) {
  switch (source.kind) {
    case FileSource::Kind::kSecret:
    case FileSource::Kind::kConfigMap:
      return add_object(out, source, default_mode, context);
    case FileSource::Kind::kFields:
      for (const auto& item : source.items) {
        TRY(auto value, field_value(context.facts, item.key));
        TRY(add(out, item.path, std::move(value), item.mode.value_or(default_mode)));
      }
      return {};
    case FileSource::Kind::kToken: {
      auto token = context.token(source);
      if (!token) return fail(Code::kUnavailable, "no token of the service account yet");
      return add(out, source.items.front().path, std::move(*token), 0600);
    }
  }
  return {};
}

// --- on disk

std::string read_link(const fs::path& path) {
  std::error_code ignored;
  return fs::read_symlink(path, ignored).string();
}

bool holds(const fs::path& directory, const FileSet& files) {
  std::size_t count = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_directory(error)) continue;
    auto found = files.find(fs::relative(it->path(), directory, error).string());
    if (found == files.end()) return false;
    struct stat facts {};
    if (::stat(it->path().c_str(), &facts) != 0) return false;
    auto bytes = read_small_file(it->path().string(), found->second.bytes.size() + 1);
    if (!bytes || *bytes != found->second.bytes) return false;
    if (static_cast<int>(facts.st_mode & 07777) != found->second.mode) return false;
    ++count;
  }
  return !error && count == files.size();
}

Result<void> replace_link(const fs::path& link, const std::string& leads) {
  auto aside = link.string() + "_tmp";
  ::unlink(aside.c_str());
  if (::symlink(leads.c_str(), aside.c_str()) != 0)
    return fail(errno_error("symlink " + aside, errno));
  if (::rename(aside.c_str(), link.c_str()) != 0)
    return fail(errno_error("rename " + aside, errno));
  return {};
}

// The names that people see, one link for each first part of a path; those of files that are gone
// are removed.
Result<void> update_names(const fs::path& directory, const FileSet& files) {
  std::set<std::string> wanted;
  for (const auto& [path, content] : files) wanted.insert(path.substr(0, path.find('/')));
  for (const auto& name : wanted) {
    auto leads = fmt::format("{}/{}", kData, name);
    if (read_link(directory / name) != leads) TRY(replace_link(directory / name, leads));
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    auto name = entry.path().filename().string();
    if (!name.starts_with("..") && !wanted.contains(name)) fs::remove(entry.path(), ignored);
  }
  return {};
}

}  // namespace

Result<FileSet> make_files(const FileVolume& volume, const FileContext& context) {
  FileSet out;
  for (const auto& source : volume.sources)
    TRY(add_source(out, source, volume.default_mode, context));
  return out;
}

Result<bool> publish_files(const std::string& directory, const FileSet& files) {
  TRY(make_directories(directory));
  auto root = fs::path(directory);
  auto old = read_link(root / kData);
  if (!old.empty() && holds(root / old, files)) {
    TRY(update_names(root, files));
    return false;
  }
  auto pattern = (root / "..XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return fail(errno_error("mkdtemp in " + directory, errno));
  fs::permissions(pattern, fs::perms(0755));
  for (const auto& [path, content] : files) {
    auto target = fs::path(pattern) / path;
    TRY(make_directories(target.parent_path().string()));
    TRY(write_small_file(target.string(), content.bytes, content.mode));
  }
  TRY(replace_link(root / kData, fs::path(pattern).filename().string()));
  TRY(update_names(root, files));
  if (!old.empty()) TRY(remove_tree((root / old).string()));
  return true;
}

}  // namespace quorate::node

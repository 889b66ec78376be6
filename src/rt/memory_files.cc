#include "rt/memory_files.h"

#include <fmt/format.h>

#include <filesystem>

namespace quorate::rt {

namespace {

std::string normal(const std::string& path) {
  auto text = std::filesystem::path(path).lexically_normal().string();
  if (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

std::string directory_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

Error failure(Code code, std::string message, std::string_view what, const std::string& path) {
  return Error(code, std::move(message)).in(fmt::format("{} {}", what, path));
}

template <class T>
Task<Result<T>> refused() {
  co_return fail(Code::kInternal, "the machine is being torn down");
}

}  // namespace

// The calls themselves are no coroutines: a destructor that calls one in a crash is noticed even
// though it cannot await it.

Task<Result<void>> MemoryFiles::write_atomically(std::string path, std::string contents,
                                                 unsigned mode) {
  if (!seam_open(runtime_, "write " + path)) return refused<void>();
  return write(normal(path), std::move(contents), mode);
}

Task<Result<void>> MemoryFiles::set_mode(std::string path, unsigned mode) {
  if (!seam_open(runtime_, "set mode of " + path)) return refused<void>();
  return change_mode(normal(path), mode);
}

Task<Result<void>> MemoryFiles::remove(std::string path) {
  if (!seam_open(runtime_, "remove " + path)) return refused<void>();
  return unlink(normal(path));
}

Task<Result<void>> MemoryFiles::make_directories(std::string path, unsigned mode) {
  if (!seam_open(runtime_, "make directory " + path)) return refused<void>();
  return make(normal(path), mode);
}

Task<Result<std::string>> MemoryFiles::read(std::string path, Bytes limit) {
  CO_TRY(co_await step());
  path = normal(path);
  CO_TRY(auto node, find("read", path));
  if (node->directory) co_return fail(failure(Code::kInvalid, "not a regular file", "read", path));
  if (node->contents.size() > static_cast<std::size_t>(limit.value()))
    co_return fail(
        failure(Code::kInvalid, fmt::format("larger than {} bytes", limit.value()), "read", path));
  co_return node->contents;
}

Task<Result<FileInfo>> MemoryFiles::info(std::string path) {
  CO_TRY(co_await step());
  path = normal(path);
  if (path == "/") co_return FileInfo{FileInfo::Kind::kDirectory, Bytes(0), 0755};
  CO_TRY(auto node, find("look at", path));
  auto kind = node->directory ? FileInfo::Kind::kDirectory : FileInfo::Kind::kFile;
  Bytes size(static_cast<std::int64_t>(node->contents.size()));
  FileInfo found{kind, size, node->mode};
  co_return found;
}

Task<Result<std::vector<std::string>>> MemoryFiles::list(std::string path) {
  CO_TRY(co_await step());
  path = normal(path);
  if (path != "/") {
    CO_TRY(auto node, find("list", path));
    if (!node->directory) co_return fail(failure(Code::kInvalid, "not a directory", "list", path));
  }
  std::vector<std::string> found;
  for (const auto& [name, node] : names_)
    if (directory_of(name) == path && name != path)
      found.push_back(std::filesystem::path(name).filename().string());
  std::sort(found.begin(), found.end());
  co_return found;
}

// The steps are those of MachineFiles.
Task<Result<void>> MemoryFiles::write(std::string path, std::string contents, unsigned mode) {
  CO_TRY(co_await step());
  const auto aside = fmt::format("{}.aside-{:016x}", path, runtime_.random->next());
  const auto directory = directory_of(path);
  if (directory != "/") CO_TRY(find("write " + path + ": create", directory));
  auto node = std::make_shared<Node>();
  node->contents = std::move(contents);
  node->mode = mode;
  names_[aside] = node;
  CO_TRY(co_await step());
  node->synced_contents = node->contents;
  node->synced_mode = node->mode;
  CO_TRY(co_await step());
  auto there = names_.find(path);
  if (there != names_.end() && there->second->directory) {
    names_.erase(aside);
    co_return fail(failure(Code::kInvalid, "is a directory", "write", path));
  }
  names_.erase(aside);
  names_[path] = node;
  CO_TRY(co_await step());
  sync_directory(directory);
  co_return Result<void>();
}

Task<Result<void>> MemoryFiles::change_mode(std::string path, unsigned mode) {
  CO_TRY(co_await step());
  CO_TRY(auto node, find("set mode of", path));
  node->mode = mode;
  CO_TRY(co_await step());
  node->synced_mode = mode;
  node->synced_contents = node->contents;
  co_return Result<void>();
}

Task<Result<void>> MemoryFiles::unlink(std::string path) {
  CO_TRY(co_await step());
  CO_TRY(auto node, find("remove", path));
  if (has_children(path))
    co_return fail(failure(Code::kConflict, "directory not empty", "remove", path));
  names_.erase(path);
  CO_TRY(co_await step());
  sync_directory(directory_of(path));
  co_return Result<void>();
}

Task<Result<void>> MemoryFiles::make(std::string path, unsigned mode) {
  std::filesystem::path prefix;
  for (const auto& part : std::filesystem::path(path)) {
    prefix /= part;
    const std::string name = prefix.string();
    if (name == "/") continue;
    CO_TRY(co_await step());
    auto there = names_.find(name);
    if (there != names_.end() && !there->second->directory)
      co_return fail(failure(Code::kInvalid, "not a directory", "make directory", name));
    if (there != names_.end()) continue;
    auto node = std::make_shared<Node>();
    node->directory = true;
    node->mode = node->synced_mode = mode;
    names_[name] = std::move(node);
    CO_TRY(co_await step());
    sync_directory(directory_of(name));
  }
  co_return Result<void>();
}

// Lets others run, and crashes come.
Task<Result<void>> MemoryFiles::step() { return yield(runtime_); }

Result<std::shared_ptr<MemoryFiles::Node>> MemoryFiles::find(std::string_view what,
                                                             const std::string& path) const {
  auto it = names_.find(path);
  if (it == names_.end())
    return fail(failure(Code::kNotFound, "no such file or directory", what, path));
  return it->second;
}

bool MemoryFiles::has_children(const std::string& path) const {
  auto next = names_.upper_bound(path + "/");
  return next != names_.end() && next->first.starts_with(path + "/");
}

void MemoryFiles::sync_directory(const std::string& path) {
  auto in_it = [&path](const auto& entry) { return directory_of(entry.first) == path; };
  std::erase_if(durable_names_, in_it);
  for (const auto& entry : names_)
    if (in_it(entry)) durable_names_.insert(entry);
}

void MemoryFiles::power_cut() {
  auto chance = [this] { return runtime_.random->below(2) == 0; };
  Names left = durable_names_;
  for (const auto& [path, node] : names_) {
    auto durable = durable_names_.find(path);
    const bool changed = durable == durable_names_.end() || durable->second != node;
    if (changed && chance()) left[path] = node;
  }
  for (const auto& [path, node] : durable_names_)
    if (!names_.contains(path) && chance()) left.erase(path);
  // Nothing is without its directory.
  std::erase_if(left, [&left](const auto& entry) {
    auto directory = directory_of(entry.first);
    return directory != "/" && !directory.empty() && !left.contains(directory);
  });
  for (auto& [path, node] : left) {
    if (node->contents != node->synced_contents) {
      const auto kept = runtime_.random->below(node->contents.size() + 1);
      node->contents = chance() ? node->synced_contents : node->contents.substr(0, kept);
    }
    if (chance()) node->mode = node->synced_mode;
    node->synced_contents = node->contents;
    node->synced_mode = node->mode;
  }
  names_ = left;
  durable_names_ = std::move(left);
}

}  // namespace quorate::rt

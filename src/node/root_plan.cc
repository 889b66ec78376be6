#include "node/root_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "base/strings.h"

namespace quorate::node {
namespace {

namespace fs = std::filesystem;
using Kind = MountStep::Kind;

// What containers see of the machine. Everything else at the top is not there.
constexpr std::array<std::string_view, 10> kShared = {"bin",    "sbin", "lib", "lib32", "lib64",
                                                      "libx32", "usr",  "etc", "nix",   "gnu"};
constexpr std::array<std::string_view, 6> kDevices = {"null",   "zero",    "full",
                                                      "random", "urandom", "tty"};

// What has to stand at a path, as a tree over path components.
struct Wanted {
  std::map<std::string, std::unique_ptr<Wanted>, std::less<>> children;
  bool directory = true;
  std::optional<std::string> bind;  // put there from the machine, read-only
  std::optional<std::string> link;  // a symbolic link
};

class Planner {
 public:
  explicit Planner(const RootRequest& request) : request_(request) {}

  Result<std::vector<MountStep>> plan();

 private:
  // --- what is wanted
  Wanted& want(std::string_view path, bool directory);
  Result<void> want_image(const fs::path& source, const fs::path& target);
  std::string follow_links(std::string_view path) const;
  const MountPoint* mount_above(const std::string& target) const;

  // --- what the machine has
  bool shared(const fs::path& path) const;
  fs::file_type host_type(const fs::path& path) const;
  bool must_compose(const fs::path& path, const Wanted& wanted) const;

  // --- steps
  void step(Kind kind, std::string source, const fs::path& target) {
    steps_.push_back({kind, std::move(source), request_.place + target.string()});
  }
  void put_directory(const fs::path& path, const Wanted& wanted);
  void put_host_entry(const fs::path& path);
  void put_wanted(const fs::path& path, const Wanted& wanted);
  void bind_over(const fs::path& path, const Wanted& wanted);
  void put_devices();
  void put_mount(const MountPoint& mount);

  std::string on_host(const fs::path& path) const {
    return (fs::path(request_.host) / path.relative_path()).string();
  }

  const RootRequest& request_;
  std::vector<MountPoint> mounts_;  // sorted, links followed
  Wanted root_;
  std::vector<MountStep> steps_;
};

// --- what the machine has

bool Planner::shared(const fs::path& path) const {
  auto first = path.begin();
  if (first == path.end() || ++first == path.end()) return true;  // the root itself
  return std::find(kShared.begin(), kShared.end(), first->string()) != kShared.end();
}

fs::file_type Planner::host_type(const fs::path& path) const {
  if (!shared(path)) return fs::file_type::not_found;
  std::error_code ignored;
  return fs::symlink_status(on_host(path), ignored).type();
}

// A path in which every link of the machine is replaced by where it leads. What does not exist is
// left as it is.
std::string Planner::follow_links(std::string_view text) const {
  fs::path done = "/";
  auto left = fs::path(text).lexically_normal().relative_path();
  for (int links = 0; !left.empty();) {
    auto next = *left.begin();
    fs::path rest;
    for (auto it = std::next(left.begin()); it != left.end(); ++it) rest /= *it;
    std::error_code ignored;
    auto here = done / next;
    bool link = host_type(here) == fs::file_type::symlink || here == "/var/run";
    if (!link || ++links > 40) {
      done = here;
      left = rest;
      continue;
    }
    auto leads = here == "/var/run" ? fs::path("/run") : fs::read_symlink(on_host(here), ignored);
    auto whole = leads.is_absolute() ? leads / rest : done / leads / rest;
    left = whole.lexically_normal().relative_path();
    done = "/";
  }
  auto out = done.string();
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

// --- what is wanted

Wanted& Planner::want(std::string_view path, bool directory) {
  auto* at = &root_;
  for (const auto& part : fs::path(path).relative_path()) {
    if (part.empty()) continue;
    auto& child = at->children[part.string()];
    if (!child) child = std::make_unique<Wanted>();
    at = child.get();
  }
  at->directory = directory;
  return *at;
}

// Folders that both sides have are merged; everything else of the image is bound as it is.
Result<void> Planner::want_image(const fs::path& source, const fs::path& target) {
  std::error_code error;
  fs::directory_iterator entries(source, error);
  if (error) return fail(errno_error("open the image's folder " + source.string(), error.value()));
  for (const auto& entry : entries) {
    auto path = fs::path(follow_links((target / entry.path().filename()).string()));
    std::error_code ignored;
    auto type = entry.symlink_status(ignored).type();
    if (type == fs::file_type::directory && host_type(path) == fs::file_type::directory) {
      TRY(want_image(entry.path(), path));
    } else if (type == fs::file_type::symlink) {
      want(path.string(), false).link = fs::read_symlink(entry.path(), ignored).string();
    } else {
      bool directory = type == fs::file_type::directory;
      want(path.string(), directory).bind = entry.path().string();
    }
  }
  return {};
}

// A mount inside of another mount has its place in that one, not in the root.
const MountPoint* Planner::mount_above(const std::string& target) const {
  for (const auto& mount : mounts_)
    if (mount.directory && target.size() > mount.target.size() &&
        target.starts_with(mount.target == "/" ? "/" : mount.target + "/"))
      return &mount;
  return nullptr;
}

bool Planner::must_compose(const fs::path& path, const Wanted& wanted) const {
  auto type = host_type(path);
  if (wanted.link) return true;
  if (wanted.directory ? type != fs::file_type::directory : type != fs::file_type::regular)
    return true;
  return std::any_of(wanted.children.begin(), wanted.children.end(), [&](const auto& child) {
    return must_compose(path / child.first, *child.second);
  });
}

// --- steps

void Planner::put_host_entry(const fs::path& path) {
  std::error_code ignored;
  switch (host_type(path)) {
    case fs::file_type::directory:
      step(Kind::kDirectory, "", path);
      step(Kind::kBind, on_host(path), path);
      return;
    case fs::file_type::symlink:
      step(Kind::kSymlink, fs::read_symlink(on_host(path), ignored).string(), path);
      return;
    case fs::file_type::not_found:
      return;
    default:
      step(Kind::kFile, "", path);
      step(Kind::kBind, on_host(path), path);
  }
}

void Planner::put_wanted(const fs::path& path, const Wanted& wanted) {
  if (wanted.link) {
    step(Kind::kSymlink, *wanted.link, path);
  } else if (wanted.bind) {
    step(wanted.directory ? Kind::kDirectory : Kind::kFile, "", path);
    step(Kind::kBind, *wanted.bind, path);
  } else if (!wanted.directory) {
    step(Kind::kFile, "", path);
  } else if (host_type(path) == fs::file_type::directory && !must_compose(path, wanted)) {
    put_host_entry(path);
    bind_over(path, wanted);
  } else {
    step(Kind::kDirectory, "", path);
    put_directory(path, wanted);
  }
}

// Everything wanted here exists on the machine: bound over it.
void Planner::bind_over(const fs::path& path, const Wanted& wanted) {
  for (const auto& [name, child] : wanted.children) {
    if (child->bind) step(Kind::kBind, *child->bind, path / name);
    bind_over(path / name, *child);
  }
}

void Planner::put_directory(const fs::path& path, const Wanted& wanted) {
  if (host_type(path) == fs::file_type::directory) {
    std::error_code ignored;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(on_host(path), ignored))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    for (const auto& name : names)
      if (!wanted.children.contains(name)) put_host_entry(path / name);
  }
  for (const auto& [name, child] : wanted.children) put_wanted(path / name, *child);
}

void Planner::put_devices() {
  step(Kind::kTmpfs, "mode=755,size=64k", "/dev");
  for (auto device : kDevices) {
    auto path = fs::path("/dev") / device;
    std::error_code ignored;
    if (!fs::exists(on_host(path), ignored)) continue;
    step(Kind::kFile, "", path);
    step(Kind::kBind, on_host(path), path);
  }
  step(Kind::kSymlink, "/proc/self/fd", "/dev/fd");
  step(Kind::kSymlink, "/proc/self/fd/0", "/dev/stdin");
  step(Kind::kSymlink, "/proc/self/fd/1", "/dev/stdout");
  step(Kind::kSymlink, "/proc/self/fd/2", "/dev/stderr");
  step(Kind::kDirectory, "", "/dev/shm");
  for (const auto& mount : mounts_)
    if (mount.target.starts_with("/dev/"))
      step(mount.directory ? Kind::kDirectory : Kind::kFile, "", mount.target);
  step(Kind::kReadOnlyOne, "", "/dev");
  step(Kind::kTmpfs, "mode=1777,size=64m", "/dev/shm");
}

void Planner::put_mount(const MountPoint& mount) {
  if (mount_above(mount.target))
    step(mount.directory ? Kind::kDirectory : Kind::kFile, "", mount.target);
  step(Kind::kBind, mount.source, mount.target);
  if (mount.read_only) step(Kind::kReadOnly, "", mount.target);
}

Result<std::vector<MountStep>> Planner::plan() {
  for (const auto& part : request_.image) TRY(want_image(part.folder, part.target));
  for (auto mount : request_.mounts) {
    mount.target = follow_links(mount.target);
    mounts_.push_back(std::move(mount));
  }
  std::stable_sort(mounts_.begin(), mounts_.end(),
                   [](const auto& a, const auto& b) { return a.target < b.target; });
  for (const auto& mount : mounts_)
    if (!mount_above(mount.target) && !mount.target.starts_with("/dev/"))
      want(mount.target, mount.directory);
  for (const char* own : {"/proc", "/dev", "/sys", "/tmp", "/run", "/var", "/root"})
    want(own, true);
  want("/var/run", false).link = "/run";

  steps_.push_back({Kind::kTmpfs, "mode=755,size=16m", request_.place});
  put_directory("/", root_);
  std::error_code ignored;
  if (fs::exists(request_.host + "/sys", ignored)) step(Kind::kBind, on_host("/sys"), "/sys");
  steps_.push_back({Kind::kReadOnly, "", request_.place});
  put_devices();
  step(Kind::kProc, "", "/proc");
  if (request_.writable_tmp) step(Kind::kTmpfs, "mode=1777,size=1g", "/tmp");
  for (const auto& mount : mounts_) put_mount(mount);
  steps_.push_back({Kind::kPivot, "", request_.place});
  return std::move(steps_);
}

}  // namespace

std::string describe(const MountStep& step) {
  switch (step.kind) {
    case Kind::kTmpfs:
      return fmt::format("mount(tmpfs, {})", step.target);
    case Kind::kBind:
      return fmt::format("mount({}, {}, MS_BIND | MS_REC)", step.source, step.target);
    case Kind::kProc:
      return fmt::format("mount(proc, {})", step.target);
    case Kind::kDirectory:
      return fmt::format("mkdir({})", step.target);
    case Kind::kFile:
      return fmt::format("create({})", step.target);
    case Kind::kSymlink:
      return fmt::format("symlink({}, {})", step.source, step.target);
    case Kind::kReadOnly:
      return fmt::format("mount_setattr({}, MOUNT_ATTR_RDONLY, recursive)", step.target);
    case Kind::kReadOnlyOne:
      return fmt::format("mount_setattr({}, MOUNT_ATTR_RDONLY)", step.target);
    case Kind::kPivot:
      return fmt::format("pivot_root({})", step.target);
  }
  return "";
}

Result<std::vector<MountStep>> plan_root(const RootRequest& request) {
  return Planner(request).plan();
}

}  // namespace quorate::node

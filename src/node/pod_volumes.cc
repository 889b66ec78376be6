#include "node/pod_volumes.h"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "node/claims.h"
#include "node/services.h"
#include "node/small_file.h"

namespace quorate::node {
namespace {

Result<void> make_writable_directory(const std::string& path) {
  TRY(make_directories(path));
  if (::chmod(path.c_str(), 0777) != 0) return fail(errno_error("chmod " + path, errno));
  return {};
}

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

std::string PodVolumes::file_directory(const std::string& volume) const {
  return node_.dirs.pod_memory(pod_) + "/files/" + volume;
}

std::string PodVolumes::network_file(const char* name) const {
  return node_.dirs.pod_memory(pod_) + "/etc/" + name;
}

Result<PodVolumes::Place> PodVolumes::place_memory(const std::string& name,
                                                   const EmptyDir& volume) {
  auto path = node_.dirs.pod_memory(pod_) + "/volumes/" + name;
  TRY(make_directories(path));
  std::string options = "mode=1777";
  if (volume.size_limit) options += fmt::format(",size={}", volume.size_limit->value());
  if (::mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
    return fail(errno_error("mount(tmpfs, " + path + ")", errno));
  return Place{path, false, true};
}

Result<PodVolumes::Place> PodVolumes::place_claim(const PodView& pod, const ClaimVolume& volume) {
  const auto claim = node_.cluster.claims().find({pod.meta.key.ns, volume.claim});
  if (!claim)
    return fail(Code::kNotFound,
                fmt::format("persistentvolumeclaim \"{}\" not found", volume.claim));
  if (claim->volume_name.empty() || claim->phase != "Bound")
    return fail(Code::kUnavailable,
                fmt::format("persistentvolumeclaim \"{}\" is not bound", volume.claim));
  const auto bound = node_.cluster.volumes().find({"", claim->volume_name});
  if (!bound)
    return fail(Code::kNotFound,
                fmt::format("persistentvolume \"{}\" not found", claim->volume_name));
  if (bound->claim_uid != claim->meta.uid)
    return fail(Code::kConflict, fmt::format("persistentvolume \"{}\" belongs to another claim",
                                             claim->volume_name));
  if (bound->node != node_.name || bound->path.empty())
    return fail(Code::kInvalid, fmt::format("persistentvolume \"{}\" is not a local one of {}",
                                            claim->volume_name, node_.name));
  std::error_code ignored;
  if (!std::filesystem::is_directory(bound->path, ignored))
    return fail(Code::kNotFound, fmt::format("the directory {} of persistentvolume \"{}\" is gone",
                                             bound->path, claim->volume_name));
  return Place{bound->path, volume.read_only, false};
}

Result<PodVolumes::Place> PodVolumes::place(const PodView& pod, const Volume& volume,
                                            const FileContext& context) {
  return std::visit(
      Overloaded{[&](const EmptyDir& source) -> Result<Place> {
                   if (source.memory) return place_memory(volume.name, source);
                   auto path = node_.dirs.empty_dir(pod_, volume.name);
                   TRY(make_writable_directory(path));
                   return Place{path};
                 },
                 [&](const ClaimVolume& source) { return place_claim(pod, source); },
                 [&](const HostPath& source) -> Result<Place> { return Place{source.path}; },
                 [&](const FileVolume& source) -> Result<Place> {
                   TRY(auto files, make_files(source, context));
                   TRY(publish_files(file_directory(volume.name), files));
                   return Place{file_directory(volume.name), true};
                 }},
      volume.source);
}

Result<void> PodVolumes::set_up(const PodView& pod, const FileContext& context) {
  for (const auto& volume : pod.volumes) {
    if (places_.contains(volume.name)) continue;
    TRY(auto made, in("volume " + volume.name, place(pod, volume, context)));
    places_[volume.name] = std::move(made);
  }
  return {};
}

void PodVolumes::refresh(const PodView& pod, const FileContext& context) {
  for (const auto& volume : pod.volumes) {
    const auto* source = std::get_if<FileVolume>(&volume.source);
    if (!source || !places_.contains(volume.name)) continue;
    auto files = make_files(*source, context);
    if (!files) continue;
    if (auto done = publish_files(file_directory(volume.name), *files); !done)
      node_.log.warn("files of a volume are not up to date",
                     {{"pod", pod.meta.key}, {"volume", volume.name}, {"error", done.error()}});
  }
}

Result<void> PodVolumes::write_network_files(const PodView& pod, Ipv4 address) {
  TRY(make_directories(node_.dirs.pod_memory(pod_) + "/etc"));
  auto domain = fmt::format("svc.{}", kClusterDomain);
  auto resolv = fmt::format("search {}.{} {} {}\nnameserver {}\noptions ndots:5\n", pod.meta.key.ns,
                            domain, domain, kClusterDomain, layout::kFabric.text());
  auto own = pod.subdomain.empty() ? pod.host_name()
                                   : fmt::format("{}.{}.{}.{}\t{}", pod.host_name(), pod.subdomain,
                                                 pod.meta.key.ns, domain, pod.host_name());
  auto hosts = fmt::format("127.0.0.1\tlocalhost\n{}\t{}\n", address.text(), own);
  TRY(write_small_file(network_file("resolv.conf"), resolv, 0644));
  TRY(write_small_file(network_file("hosts"), hosts, 0644));
  return write_small_file(network_file("hostname"), pod.host_name() + "\n", 0644);
}

std::vector<MountPoint> PodVolumes::mounts(const ContainerSpec& container) const {
  std::vector<MountPoint> out;
  for (const char* name : {"resolv.conf", "hosts", "hostname"})
    out.push_back({network_file(name), std::string("/etc/") + name, false, true});
  for (const auto& mount : container.mounts)
    if (auto found = places_.find(mount.volume); found != places_.end())
      out.push_back(
          {found->second.path, mount.path, true, mount.read_only || found->second.read_only});
  return out;
}

void PodVolumes::take_down() {
  for (const auto& [name, made] : places_)
    if (made.mounted) ::umount2(made.path.c_str(), MNT_DETACH);
  places_.clear();
  if (auto removed = remove_tree(node_.dirs.pod_memory(pod_)); !removed)
    node_.log.warn("cannot remove a Pod's files", {{"error", removed.error()}});
}

}  // namespace quorate::node

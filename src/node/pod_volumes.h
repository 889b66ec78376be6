#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/file_volume.h"
#include "node/node_context.h"
#include "node/root_plan.h"

namespace quorate::node {

// The volumes of one Pod on its node, and the few files that every Pod has.
class PodVolumes {
 public:
  PodVolumes(NodeContext& node, Uid pod) : node_(node), pod_(std::move(pod)) {}

  // Makes all of them; what exists is left as it is. The error names the volume.
  Result<void> set_up(const PodView& pod, const FileContext& context);
  // Brings the files up to date with their objects. An object that has gone leaves its files.
  void refresh(const PodView& pod, const FileContext& context);
  // resolv.conf, hosts and hostname.
  Result<void> write_network_files(const PodView& pod, Ipv4 address);

  // Where the container's mounts come from.
  [[nodiscard]] std::vector<MountPoint> mounts(const ContainerSpec& container) const;

  // What is in memory goes. What is on disk stays until the Pod is gone.
  void take_down();

 private:
  struct Place {
    std::string path;
    bool read_only = false;
    bool mounted = false;  // a tmpfs of ours
  };

  Result<Place> place(const PodView& pod, const Volume& volume, const FileContext& context);
  Result<Place> place_memory(const std::string& name, const EmptyDir& volume);
  Result<Place> place_claim(const PodView& pod, const ClaimVolume& volume);
  std::string file_directory(const std::string& volume) const;
  std::string network_file(const char* name) const;

  NodeContext& node_;
  Uid pod_;
  std::map<std::string, Place> places_;
};

}  // namespace quorate::node

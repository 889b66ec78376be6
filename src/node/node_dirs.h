#pragma once

#include <string>

#include "base/ids.h"

namespace quorate::node {

// Where one node keeps what. `disk` survives the node's process, `memory` is a tmpfs that goes with
// it, as in a power cut: network files, secrets, and volumes of medium Memory.
//
//   DISK/volumes/PV                    claims
//   DISK/pods/UID/volumes/NAME         emptyDirs
//   DISK/pods/UID/containers/NAME      pid, termination message
//   DISK/logs/NS_POD_UID/NAME/N.log    output of the Nth run
struct NodeDirs {
  std::string disk;
  std::string memory;

  std::string volumes() const { return disk + "/volumes"; }
  std::string pods() const { return disk + "/pods"; }
  std::string pod(const Uid& uid) const { return pods() + "/" + uid.value(); }
  std::string empty_dir(const Uid& uid, const std::string& volume) const {
    return pod(uid) + "/volumes/" + volume;
  }
  std::string container(const Uid& uid, const std::string& name) const {
    return pod(uid) + "/containers/" + name;
  }
  std::string logs(const ObjectKey& pod, const Uid& uid) const {
    return disk + "/logs/" + pod.ns + "_" + pod.name + "_" + uid.value();
  }
  std::string pod_memory(const Uid& uid) const { return memory + "/pods/" + uid.value(); }
  // An empty directory on which containers put their roots together, each in its own namespace.
  std::string place() const { return memory + "/place"; }
};

}  // namespace quorate::node

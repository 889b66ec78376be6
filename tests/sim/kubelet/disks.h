#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/ids.h"
#include "tests/sim/etcd/datadir.h"

namespace quorate::sim {

using Disk = std::shared_ptr<etcdsim::Volume>;

// Every disk of the world: one for each PersistentVolume, by its name, and one
// for each emptyDir of each Pod. Disks of volumes stay for ever, so that a
// check can look at what was on them.
class Disks {
 public:
  // Made empty the first time that it is asked for.
  Disk of_volume(const std::string& volume) { return make(volumes_[volume]); }
  Disk of_pod(const Uid& pod, const std::string& name) { return make(pods_[{pod, name}]); }
  // The Pod's own folders go with it.
  void forget_pod(const Uid& pod) {
    pods_.erase(pods_.lower_bound({pod, {}}), pods_.upper_bound({pod, "\x7f"}));
  }
  [[nodiscard]] const std::map<std::string, Disk>& volumes() const { return volumes_; }

 private:
  static Disk make(Disk& slot) {
    if (!slot) slot = std::make_shared<etcdsim::Volume>();
    return slot;
  }
  std::map<std::string, Disk> volumes_;
  std::map<std::pair<Uid, std::string>, Disk> pods_;
};

}  // namespace quorate::sim

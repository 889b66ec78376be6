#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "datadir/judge.h"

namespace quorate::sim {

// What nodes really did, whoever asked for it: the truth that invariants are
// checked against. Only ever added to.
struct Ledger {
  // etcd was executed.
  struct Start {
    Monotonic at;
    std::uint64_t process = 0;  // EtcdProcess::id
    ObjectKey pod;
    Uid pod_uid;
    std::string cluster;  // by the Pod's labels
    Uid cluster_uid;
    std::string node;
    std::string disk;               // the PersistentVolume, or the emptyDir of the Pod
    std::uint64_t incarnation = 0;  // of the disk, then
    datadir::Folder folder{};       // before the guard touched it
    datadir::StartState state{};
    std::string token;
    std::string initial_cluster;
  };
  // A disk was mounted for a Pod.
  struct Mount {
    std::string disk;
    ObjectKey pod;
    Uid cluster_uid;
  };
  // The guard refused.
  struct Refusal {
    Monotonic at;
    ObjectKey pod;
    int code = 0;
  };
  std::vector<Start> starts;
  std::vector<Refusal> refusals;
  std::vector<Mount> mounts;
  std::uint64_t exits = 0;
};

}  // namespace quorate::sim

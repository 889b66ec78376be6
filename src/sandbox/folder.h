#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "node/process_id.h"
#include "rt/fd.h"

namespace quorate::sandbox {

// Where a sandbox keeps what. One folder is one sandbox; two folders are two.
//
//   kubeconfig     how to reach it; for its owner alone
//   log            what it says
//   objects        what its API holds (object_store.h)
//   credentials    who its API is
//   reach          which ports of the host's loopback lead to which clusters
//   switches       which nodes are powered off or cut
//   images         which local programs stand for images, as --image says it, line by line
//   etcd           leads to the folder with the programs etcd and etcdctl
//   clients/       certificates for programs outside
//   nodes/         the nodes' disks: volumes, logs of containers
//   image/         the launch guard, as an image
//   lock           held while it runs; names the process
//   fabric, resolv.conf   of the network that it runs in (node/fabric.h)
class Folder {
 public:
  explicit Folder(const std::string& path);  // made absolute

  const std::string& path() const { return path_; }
  std::string kubeconfig() const { return path_ + "/kubeconfig"; }
  std::string log() const { return path_ + "/log"; }
  std::string objects() const { return path_ + "/objects"; }
  std::string credentials() const { return path_ + "/credentials"; }
  std::string reach() const { return path_ + "/reach"; }
  std::string switches() const { return path_ + "/switches"; }
  std::string images() const { return path_ + "/images"; }
  std::string etcd() const { return path_ + "/etcd"; }
  std::string clients() const { return path_ + "/clients"; }
  std::string nodes() const { return path_ + "/nodes"; }
  std::string image() const { return path_ + "/image"; }

  // Makes the folder, for its owner alone, if it is not there.
  [[nodiscard]] Result<void> make() const;
  // Whether a sandbox was ever here: only then is it ours to remove.
  [[nodiscard]] bool is_ours() const;

  // From now on this process is the folder's sandbox, until the descriptor is closed or the process
  // ends. kConflict, naming the process, if there is one already.
  [[nodiscard]] Result<rt::Fd> lock() const;
  // The process that holds the lock now.
  [[nodiscard]] std::optional<node::ProcessId> holder() const;

  // Everything of the sandbox; the folder itself goes if nothing else is in it. To be called with
  // the lock.
  [[nodiscard]] Result<void> remove() const;

 private:
  std::string lock_file() const { return path_ + "/lock"; }
  std::optional<node::ProcessId> named() const;  // in the lock's file

  std::string path_;
};

}  // namespace quorate::sandbox

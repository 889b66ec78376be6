#pragma once

#include <string>

#include "base/result.h"
#include "rt/fd.h"

namespace quorate::node {

// Namespaces are held by file descriptors alone: when the process that holds them dies, they go,
// and with them the links inside.

// What the containers of one Pod share.
struct PodSpaces {
  rt::Fd network;
  rt::Fd uts;
  rt::Fd ipc;
};

// A new, empty network namespace. The calling thread is in its own again when this returns.
[[nodiscard]] Result<rt::Fd> make_network_space();
[[nodiscard]] Result<PodSpaces> make_pod_spaces(const std::string& hostname);

// While it lives, the calling thread is in another network namespace: sockets opened meanwhile stay
// there. Never across a suspension.
class [[nodiscard]] NetworkVisit {
 public:
  static Result<NetworkVisit> to(int network_space);
  NetworkVisit(NetworkVisit&&) noexcept = default;
  NetworkVisit& operator=(NetworkVisit&&) = delete;
  ~NetworkVisit();

 private:
  explicit NetworkVisit(rt::Fd home) : home_(std::move(home)) {}
  rt::Fd home_;
};

// The pid's namespace of the kind ("net", "mnt", "user", ...), by /proc.
[[nodiscard]] Result<rt::Fd> open_space_of(int pid, const char* kind);

}  // namespace quorate::node

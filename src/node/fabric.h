#pragma once

#include <string>

#include "base/result.h"
#include "node/process_id.h"

namespace quorate::node {

// One user + network + mount (and UTS and IPC) namespace with a bridge: the wire between nodes, and
// the machine on which API server, operator, DNS and the nodes' own processes run. It is held by a
// small process, so nodes may die and come back in it. Nothing in it can reach outside; a listener
// that was opened before entering still serves the host's loopback. Names of Services are resolved
// in it, by the DNS that nodes run: its /etc/resolv.conf says so.
//
// Inside, the user who made it is uid 0, and the only user there is. Works for ordinary users;
// where the kernel refuses, the error says what is refused and which setting would allow it.
//
// Addresses: ipv4.h, namespace layout.
class Fabric {
 public:
  struct Options {
    std::string directory;        // exists; the file `fabric` in it tells others how to enter
    bool outlives_maker = false;  // else it ends with the process (thread) that made it
  };

  // To be called while the process has one thread, like `enter`.
  [[nodiscard]] static Result<Fabric> make(const Options& options);
  // The one made with this directory; kNotFound if it is not running.
  [[nodiscard]] static Result<Fabric> find(const std::string& directory);

  // Moves the calling process into it, for good. It keeps its working directory and open files.
  Result<void> enter() const;
  // Ends the holder. The namespaces go when the last process inside has ended.
  void end();

  const ProcessId& holder() const { return holder_; }

 private:
  Fabric(std::string directory, ProcessId holder)
      : directory_(std::move(directory)), holder_(holder) {}
  std::string directory_;
  ProcessId holder_;
};

namespace fabric_links {
inline constexpr const char* kBridge = "fabric";
}

}  // namespace quorate::node

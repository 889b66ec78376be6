#pragma once

#include <functional>
#include <string>

#include "base/log.h"
#include "node/images.h"

namespace quorate::sandbox {

struct SandboxOptions {
  std::string directory;  // kubeconfig, volumes and logs; made if it is not there
  int nodes = 3;
  std::uint16_t port = 0;    // of the API, on the host's loopback; 0: any free one
  node::ImageTable images;   // local programs that stand for images
  std::string launch_image;  // that holds quorate-launch; among the images
  LogLevel log_level = LogLevel::kInfo;
  std::function<void(const std::string& line)> tell;  // for whoever started it
};

// A Kubernetes API in memory, nodes that run Pods as local processes, and the production operator,
// in this process, until SIGTERM or SIGINT. The API is served on the host's loopback alone, with
// TLS, to the owner of `kubeconfig` in the directory; all else is inside of a fabric
// (node/fabric.h). To be called while the process has one thread.
//
// Objects are kept in memory and are gone with the process; volumes stay in the directory.
//
// kConflict if a sandbox runs there already; kForbidden if the kernel refuses something: the text
// says what, and which setting allows it.
[[nodiscard]] Result<void> run_sandbox(SandboxOptions options);

}  // namespace quorate::sandbox

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/log.h"
#include "node/images.h"
#include "sandbox/folder.h"

namespace quorate::sandbox {

struct SandboxOptions {
  Folder folder;
  std::optional<int> nodes;           // not given: as many as there were, at first three
  std::optional<std::uint16_t> port;  // of the API, on the host's loopback; not given: as before
  node::ImageTable images;            // local programs that stand for images
  std::string launch_image;           // that holds quorate-launch; among the images
  std::string etcd_version;           // of new clusters that do not say; empty: the operator's own
  LogLevel log_level = LogLevel::kInfo;
  std::function<void(const std::string& line)> tell;  // for whoever started it
  std::function<void()> ready;                        // the API answers
};

// A Kubernetes API in memory, nodes that run Pods as local processes, and the production operator,
// in this process, until SIGTERM or SIGINT. The API is served on the host's loopback alone, with
// TLS, to the owner of the folder's kubeconfig; all else is inside of a fabric (node/fabric.h). To
// be called while the process has one thread.
//
// What was acknowledged is there at the next start, however this one ended (object_store.h), and
// members go on with their volumes. Everything that it runs dies with it, also if it is killed.
//
// kConflict if a sandbox runs there already; kForbidden if the kernel refuses something: the text
// says what, and which setting allows it.
[[nodiscard]] Result<void> run_sandbox(SandboxOptions options);

}  // namespace quorate::sandbox

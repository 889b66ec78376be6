#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "node/nodes.h"

namespace quorate::node {

// `quorate node`.
struct RunNodesOptions {
  std::string kubeconfig;  // as in kube::find_config
  std::string context;
  NodesOptions nodes;
  LogFormat log_format = LogFormat::kJson;
  LogLevel log_level = LogLevel::kInfo;
  std::function<void(std::string_view)> log_sink;  // empty: standard error
};

// Plays nodes inside of the fabric that the process is in, until SIGTERM or SIGINT: then containers
// are ended within the grace. To be called while the process has one thread.
//
// kForbidden if the kernel refuses something; the text says what, and which setting allows it.
[[nodiscard]] Result<void> run_nodes(RunNodesOptions options);

}  // namespace quorate::node

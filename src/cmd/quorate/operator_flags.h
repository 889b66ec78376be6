#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "net/server.h"
#include "operator/operator.h"

namespace quorate::cmd {

// The flags of `quorate operator` as they were given, each by itself or by its environment
// variable: texts, which read_flags() makes sense of.
struct OperatorFlags {
  std::string kubeconfig, context;
  std::vector<std::string> namespaces;
  std::string selector;
  std::string identity, replica, lease;
  std::string workers;
  std::string default_version, default_repository, launch_image;
  std::string cluster_domain;
  std::string listen, metrics_listen;
  std::string log_format, log_level;
};

// What they mean.
struct OperatorSettings {
  std::string kubeconfig, context;
  std::optional<ObjectKey> lease;  // absent: in the namespace of the kubeconfig or the Pod
  net::ServerOptions listen;
  std::optional<net::ServerOptions> metrics_listen;  // absent: the same
  LogFormat log_format = LogFormat::kJson;
  LogLevel log_level = LogLevel::kInfo;
  op::OperatorOptions op;  // but for the lease
};

// Adds them with their defaults, environment variables and help.
void add_flags(CLI::App& command, OperatorFlags& flags);

// kInvalid: which flag, which value, what would be right.
[[nodiscard]] Result<OperatorSettings> read_flags(const OperatorFlags& flags);

}  // namespace quorate::cmd

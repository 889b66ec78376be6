#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "rt/processes.h"

namespace quorate::kube {

// A program that a kubeconfig names under `exec` and that hands out credentials
// (client.authentication.k8s.io), as managed clusters have it.
struct CredentialPlugin {
  std::string place;        // where it is named: "/home/a/.kube/config:16: users[0].user.exec"
  std::string api_version;  // of what it is told and says
  std::vector<std::string> arguments;                            // the program first
  std::vector<std::pair<std::string, std::string>> environment;  // beside ours
  std::string info;                                              // its KUBERNETES_EXEC_INFO
  std::string install_hint;                                      // told if there is no such program
};

// What it handed out: a token, or a certificate with its key, or both.
struct PluginCredential {
  Secret token;
  std::string certificate;
  Secret key;
  std::optional<WallTime> expires;  // none: good until the server says otherwise
};

// From what it printed. Errors (kInvalid) name the field and never show what is in it.
[[nodiscard]] Result<PluginCredential> parse_exec_credential(const std::string& text,
                                                             const std::string& api_version);

// Runs it, with our environment and standard error and without a terminal to read from. Errors
// (kUnavailable) say where it is named, and how it ended or what its answer lacks.
Task<Result<PluginCredential>> ask_plugin(rt::Processes& processes, CredentialPlugin plugin,
                                          rt::Deadline deadline);

}  // namespace quorate::kube

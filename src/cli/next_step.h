#pragma once

#include <string>

#include "base/error.h"

namespace quorate::cli {

// The API server that a command spoke to, or tried to.
struct Contact {
  std::string server;     // "https://10.0.0.1:6443"
  std::string context;    // of the kubeconfig
  bool answered = false;  // whether anything at all came from there
};

// What a person can do next about a command that failed; empty where the error itself says it.
[[nodiscard]] std::string next_step(const Error& error, const Contact& contact);

// The same where no kubeconfig could be used.
[[nodiscard]] std::string next_step_without_config();

}  // namespace quorate::cli

#include "cli/next_step.h"

#include <fmt/format.h>

namespace quorate::cli {
namespace {

constexpr int kUnauthorized = 401;

}  // namespace

std::string next_step(const Error& error, const Contact& contact) {
  if (error.status() == kUnauthorized)
    return fmt::format(
        "renew the credentials of context {}, which {} does not accept (any more); `kubectl auth "
        "whoami` tells when they are right; or take another one with --context or --kubeconfig",
        contact.context, contact.server);
  if (contact.answered) return "";
  if (error == Code::kForbidden)
    return fmt::format(
        "get a new kubeconfig if the cluster at {} was made anew: what answers there is not "
        "trusted by context {}",
        contact.server, contact.context);
  if (error == Code::kUnavailable || error == Code::kTimeout)
    return fmt::format(
        "see whether the API server of context {} runs and can be reached at {} (a sandbox: "
        "`quorate sandbox status`); or take another one with --context or --kubeconfig",
        contact.context, contact.server);
  return "";
}

std::string next_step_without_config() {
  return "say `eval $(quorate sandbox env)` for a sandbox, or name a kubeconfig with --kubeconfig "
         "or KUBECONFIG";
}

}  // namespace quorate::cli

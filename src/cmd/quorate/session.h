#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "kube/client.h"
#include "kube/http_api.h"
#include "rt/loop.h"

// What the commands for people have in common.
namespace quorate::cmd {

// Where the cluster is that a command is about.
struct Whereabouts {
  std::string kubeconfig, context, ns;
};
void add_whereabouts(CLI::App& command, Whereabouts& flags);

// A connection to the API server for one command.
struct Session {
  rt::Runtime runtime;
  kube::Client& client;
  std::string ns;      // by the flag, or the context's
  rt::Loop& loop;      // for those that wait for signals
  kube::HttpApi& api;  // for what a client does not do

  [[nodiscard]] ObjectKey key(const std::string& name) const { return {ns, name}; }
  [[nodiscard]] rt::Deadline soon() const { return runtime.in(std::chrono::seconds(20)); }
};

// Runs the work with a session; says `quorate NAME: why` on stderr if it fails. The exit code.
using Work = std::function<Task<Result<void>>(Session& session)>;
[[nodiscard]] int run_session(const std::string& name, const Whereabouts& where, const Work& work);

// Whether stdout is a terminal that can be drawn on, and whether its person likes colours.
[[nodiscard]] bool draws();
[[nodiscard]] bool wants_colours();

}  // namespace quorate::cmd

#include "cmd/quorate/sandbox_command.h"

#include <cstdio>
#include <cstdlib>

#include "cmd/quorate/commands.h"
#include "kube/client.h"
#include "kube/http_api.h"
#include "rt/loop.h"

namespace quorate::cmd {
namespace {

using namespace std::chrono_literals;

// As programs that keep state are asked to: under XDG_STATE_HOME.
Result<std::string> default_directory() {
  constexpr const char* kWhere = "/quorate/sandbox";
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state && *state == '/') return std::string(state) + kWhere;
  const char* home = std::getenv("HOME");
  if (home && *home) return std::string(home) + "/.local/state" + kWhere;
  return fail(Code::kInvalid, "HOME is not set: say where the sandbox is with --dir");
}

Task<Result<std::string>> ask(rt::Runtime runtime, kube::ClusterConfig config,
                              net::Request request) {
  CO_TRY(auto api, kube::HttpApi::make(runtime, std::move(config)));
  kube::Client client(runtime, *api);
  auto answer = co_await client.raw(std::move(request), runtime.in(30s));
  co_await api->close();
  if (!answer) co_return fail(std::move(answer).error());
  co_return std::move(answer->body);
}

}  // namespace

Result<sandbox::Folder> SandboxPlace::folder() const {
  if (!directory.empty()) return sandbox::Folder(directory);
  TRY(const auto path, default_directory());
  return sandbox::Folder(path);
}

void add_place(CLI::App& command, SandboxPlace& place) {
  command.add_option("--dir", place.directory,
                     "The sandbox's folder (default ~/.local/state/quorate/sandbox)");
}

int finish_sandbox(const std::string& name, const Result<void>& ended) {
  if (ended) return kOk;
  std::fflush(stdout);
  std::fprintf(stderr, "quorate sandbox %s: %s\n", name.c_str(), ended.error().text().c_str());
  if (ended.error() == Code::kInvalid) return kUsage;
  if (ended.error() == Code::kForbidden) return kUnsupported;
  if (ended.error() == Code::kNotFound) return kAbsent;
  return kFailed;
}

Result<std::string> ask_sandbox(const sandbox::Folder& folder, const std::string& method,
                                const std::string& path) {
  if (!folder.holder())
    return fail(Code::kUnavailable,
                "no sandbox runs in " + folder.path() + "; begin with `quorate sandbox start`");
  TRY(auto config, kube::load_kubeconfig(folder.kubeconfig()));
  rt::Loop loop;
  return loop.run(ask(loop.runtime(), std::move(config), {.method = method, .path = path}));
}

void add_sandbox(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "sandbox", "A small Kubernetes with the operator on this machine, for trying and developing");
  command->footer(
      "Example:\n  quorate sandbox start --etcd /opt/etcd-3.6.16\n"
      "  eval $(quorate sandbox env)\n  quorate create db --wait\n"
      "  eval $(quorate sandbox env db)\n  etcdctl put hello world\n"
      "  quorate sandbox stop\n"
      "Objects and volumes are kept in its folder until `reset`.");
  command->require_subcommand(1);
  add_sandbox_start(*command, exit_code);
  add_sandbox_life(*command, exit_code);
  add_sandbox_env(*command, exit_code);
  add_sandbox_nodes(*command, exit_code);
}

}  // namespace quorate::cmd

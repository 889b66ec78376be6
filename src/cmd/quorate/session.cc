#include "cmd/quorate/session.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cmd/quorate/commands.h"
#include "kube/kubeconfig.h"

namespace quorate::cmd {
namespace {

Task<Result<void>> serve(rt::Loop& loop, const Whereabouts& where, const Work& work) {
  CO_TRY(auto config, kube::find_config(where.kubeconfig, where.context));
  kube::HttpApiOptions options;
  options.user_agent = std::string("quorate/") + kVersion;
  const auto ns = where.ns.empty() ? config.ns : where.ns;
  CO_TRY(auto api, kube::HttpApi::make(loop.runtime(), std::move(config), options));
  kube::Client client(loop.runtime(), *api, {.field_manager = "quorate-cli"});
  Session session{loop.runtime(), client, ns, loop, *api};
  auto done = co_await work(session);
  co_await api->close();
  co_return done;
}

int exit_code_of(const Error& error) {
  if (error == Code::kInvalid) return kUsage;
  if (error == Code::kNotFound) return kAbsent;
  if (error == Code::kTimeout) return kNotYet;
  return kFailed;
}

}  // namespace

void add_whereabouts(CLI::App& command, Whereabouts& flags) {
  command.add_option("-n,--namespace", flags.ns, "Namespace; the context's own if not given");
  command.add_option("--kubeconfig", flags.kubeconfig,
                     "Kubeconfig file; else KUBECONFIG, ~/.kube/config");
  command.add_option("--context", flags.context,
                     "Context of the kubeconfig; its current one if not given");
}

int run_session(const std::string& name, const Whereabouts& where, const Work& work) {
  rt::Loop loop;
  auto ended = loop.run(serve(loop, where, work));
  if (ended) return kOk;
  std::fflush(stdout);
  std::fprintf(stderr, "quorate %s: %s\n", name.c_str(), ended.error().text().c_str());
  return exit_code_of(ended.error());
}

bool on_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

bool wants_colours() {
  const char* no_colour = std::getenv("NO_COLOR");
  return on_terminal() && (!no_colour || !*no_colour);
}

}  // namespace quorate::cmd

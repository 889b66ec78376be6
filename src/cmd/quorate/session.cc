#include "cmd/quorate/session.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/next_step.h"
#include "cmd/quorate/commands.h"
#include "kube/kubeconfig.h"

namespace quorate::cmd {
namespace {

constexpr Duration kSigningIn = std::chrono::minutes(5);  // in a browser, perhaps

// What is wrong before there is a session is never that a cluster is not there.
Error in_vain(Error error) { return std::move(error).as(Code::kUnavailable); }

// `next_step` is set where there is more to say than the error says.
Task<Result<void>> serve(rt::Loop& loop, const Whereabouts& where, const Work& work,
                         std::string& next_step) {
  auto config = kube::find_config(where.kubeconfig, where.context);
  if (!config) {
    next_step = cli::next_step_without_config();
    co_return fail(in_vain(std::move(config).error()));
  }
  cli::Contact contact{(config->endpoint.tls ? "https://" : "http://") + config->endpoint.text(),
                       config->context};
  kube::HttpApiOptions options;
  options.user_agent = std::string("quorate/") + kVersion;
  const auto ns = where.ns.empty() ? config->ns : where.ns;
  auto api = kube::HttpApi::make(loop.runtime(), std::move(*config), options);
  if (!api) co_return fail(in_vain(std::move(api).error()));
  auto signed_in = co_await (*api)->sign_in(loop.runtime().in(kSigningIn));
  if (!signed_in) co_return fail(std::move(signed_in).error());
  kube::Client client(loop.runtime(), **api, {.field_manager = "quorate-cli"});
  Session session{loop.runtime(), client, ns, loop, **api};
  auto done = co_await work(session);
  contact.answered = (*api)->counters().bytes_received > 0;
  co_await (*api)->close();
  if (!done) next_step = cli::next_step(done.error(), contact);
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
  std::string next_step;
  auto ended = loop.run(serve(loop, where, work, next_step));
  if (ended) return kOk;
  std::fflush(stdout);
  std::fprintf(stderr, "quorate %s: %s\n", name.c_str(), ended.error().text().c_str());
  if (!next_step.empty()) std::fprintf(stderr, "  you can: %s\n", next_step.c_str());
  return exit_code_of(ended.error());
}

bool draws() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (!kind || std::string_view(kind) != "dumb");
}

bool wants_colours() {
  const char* no_colour = std::getenv("NO_COLOR");
  return draws() && (!no_colour || !*no_colour);
}

}  // namespace quorate::cmd

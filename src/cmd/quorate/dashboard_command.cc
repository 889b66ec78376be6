#include <cstdio>

#include "cmd/quorate/commands.h"
#include "cmd/quorate/session.h"
#include "dashboard/dashboard.h"

// `quorate dashboard`: it only reads.
namespace quorate::cmd {
namespace {

struct Options {
  Whereabouts where;
  bool everywhere = false;
  std::uint16_t port = 0;
};

Task<Result<void>> serve(Session& session, const Options& options) {
  dashboard::DashboardOptions how;
  if (!options.everywhere) how.ns = session.ns;
  how.port = options.port;
  how.ready = [](const std::string& address) {
    std::printf("%s\n", address.c_str());
    std::fflush(stdout);
  };
  co_return co_await dashboard::run_dashboard(session.loop, session.client, std::move(how));
}

}  // namespace

void add_dashboard(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "dashboard", "Serve a web page about clusters on this machine, until it is told to end");
  command->footer(
      "Examples:\n  quorate dashboard            the clusters of this namespace\n"
      "  quorate dashboard -A         of all namespaces\n"
      "  quorate dashboard --port 8080\n"
      "It prints the address to open: on 127.0.0.1 alone, with a token that only this run knows. "
      "Ctrl-C ends it.");
  add_whereabouts(*command, options->where);
  command->add_flag("-A,--all-namespaces", options->everywhere, "Of all namespaces");
  command->add_option("--port", options->port, "Port on 127.0.0.1; any free one if not given");
  command->callback([options, &exit_code] {
    exit_code = run_session("dashboard", options->where,
                            [&](Session& session) { return serve(session, *options); });
  });
}

}  // namespace quorate::cmd

#include "cmd/quorate/commands.h"

using namespace quorate::cmd;

int main(int argc, char** argv) {
  CLI::App app("Quorate keeps etcd quorate: it creates and heals etcd clusters on Kubernetes.",
               "quorate");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 this machine refuses something that is "
      "needed.");
  int exit_code = kOk;
  add_operator(app, exit_code);
  add_fabric(app, exit_code);
  add_node(app, exit_code);
  add_manifests(app, exit_code);
  add_version(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  return exit_code;
}

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "cmd/quorate/commands.h"
#include "node/fabric.h"

namespace quorate::cmd {
namespace {

struct FabricOptions {
  std::string directory;
  std::vector<std::string> command;
};

// The program takes this process's place; returns only if it cannot be run.
int become(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const auto& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  std::fprintf(stderr, "quorate fabric: cannot run %s: %s\n", argv[0], std::strerror(errno));
  return kFailed;
}

int run_in_fabric(const FabricOptions& options) {
  std::error_code ignored;
  std::filesystem::create_directories(options.directory, ignored);
  auto fabric = node::Fabric::find(options.directory);
  if (!fabric) fabric = node::Fabric::make({options.directory, false});
  if (!fabric) {
    std::fprintf(stderr, "quorate fabric: %s\n", fabric.error().text().c_str());
    return fabric.error() == Code::kForbidden ? kUnsupported : kFailed;
  }
  if (auto entered = fabric->enter(); !entered) {
    std::fprintf(stderr, "quorate fabric: %s\n", entered.error().text().c_str());
    return entered.error() == Code::kForbidden ? kUnsupported : kFailed;
  }
  return become(options.command);
}

}  // namespace

void add_fabric(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FabricOptions>();
  auto* command = app.add_subcommand("fabric",
                                     "Run a program inside the network that nodes share; the first "
                                     "one makes it, and it ends with it");
  command->footer("Example:\n  quorate fabric --dir /tmp/f -- bash");
  command
      ->add_option("--dir", options->directory,
                   "Folder by which the fabric is known; two folders are two fabrics")
      ->required();
  command->add_option("command", options->command, "The program and its arguments, after --")
      ->required();
  command->callback([options, &exit_code] { exit_code = run_in_fabric(*options); });
}

}  // namespace quorate::cmd

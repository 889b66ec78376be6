#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/result.h"
#include "sandbox/folder.h"

// The commands below `quorate sandbox`, a file for each group.
namespace quorate::cmd {

// Where the sandbox is that a command is about.
struct SandboxPlace {
  std::string directory;  // empty: the default one
  [[nodiscard]] Result<sandbox::Folder> folder() const;
};
void add_place(CLI::App& command, SandboxPlace& place);

// Says `quorate sandbox NAME: why` on stderr if it failed. The exit code.
[[nodiscard]] int finish_sandbox(const std::string& name, const Result<void>& ended);

void add_sandbox_start(CLI::App& sandbox, int& exit_code);
void add_sandbox_life(CLI::App& sandbox, int& exit_code);   // stop, status, reset
void add_sandbox_nodes(CLI::App& sandbox, int& exit_code);  // node list, stop, ...
void add_sandbox_env(CLI::App& sandbox, int& exit_code);

// Asks the running sandbox (sandbox/control.h); the answer's body. kUnavailable, saying what to do,
// if none runs.
[[nodiscard]] Result<std::string> ask_sandbox(const sandbox::Folder& folder,
                                              const std::string& method, const std::string& path);

}  // namespace quorate::cmd

#pragma once

#include <CLI/CLI.hpp>

// Each adds a command to the program: its options, its help, and what it runs. A command ends by
// setting `exit_code`.
namespace quorate::cmd {

inline constexpr const char* kVersion = "0.1.0";

// What the shell is told.
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,       // it was tried and did not work
  kUsage = 2,        // the command line is wrong
  kUnsupported = 3,  // this machine refuses something that is needed; the message says what
  kAbsent = 4,       // there is no such cluster
  kNotYet = 5,       // it was asked for, and was not in place in time
};

void add_operator(CLI::App& app, int& exit_code);
void add_manifests(CLI::App& app, int& exit_code);
void add_fabric(CLI::App& app, int& exit_code);
void add_node(CLI::App& app, int& exit_code);
void add_status(CLI::App& app, int& exit_code);
void add_why(CLI::App& app, int& exit_code);
void add_acts(CLI::App& app, int& exit_code);  // create, scale, pause, resume, ...
void add_etcdctl(CLI::App& app, int& exit_code);
void add_dashboard(CLI::App& app, int& exit_code);
void add_sandbox(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_version(CLI::App& app, int& exit_code);

}  // namespace quorate::cmd

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>

#include "cmd/quorate/commands.h"
#include "cmd/quorate/sandbox_command.h"
#include "json/document.h"
#include "kube/kubeconfig.h"
#include "rt/fd.h"

namespace quorate::cmd {
namespace {

constexpr int kStopSeconds = 60;  // members are given five to end in peace

Result<void> stop(const SandboxPlace& place) {
  TRY(const auto folder, place.folder());
  const auto process = folder.holder();
  if (!process) {
    std::printf("no sandbox runs in %s\n", folder.path().c_str());
    return {};
  }
  rt::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process->pid, 0)));
  if (pidfd && process->signal(SIGTERM)) {
    pollfd ended{pidfd.get(), POLLIN, 0};
    if (::poll(&ended, 1, kStopSeconds * 1000) == 0)
      return fail(Code::kTimeout,
                  fmt::format("process {} has not ended within {} s; {} may say why, and `kill -9 "
                              "{}` is safe: nothing that was acknowledged is lost",
                              process->pid, kStopSeconds, folder.log(), process->pid));
  }
  std::printf("stopped; what was there goes on with the next start\n");
  return {};
}

Result<void> show_status(const SandboxPlace& place) {
  TRY(const auto folder, place.folder());
  TRY(const auto nodes, ask_sandbox(folder, "GET", "/sandbox/nodes"));
  TRY(const auto document, json::parse(nodes));
  TRY(const auto config, kube::load_kubeconfig(folder.kubeconfig()));
  const auto process = folder.holder();
  std::printf("folder   %s\n", folder.path().c_str());
  std::printf("process  %d\n", process ? process->pid : 0);
  std::printf("API      https://%s\n", config.endpoint.text().c_str());
  TRY(const auto* all, json::array_at(document, "/nodes"));
  for (const auto& node : *all) {
    const bool on = json::flag_at(node, "/on").value_or(false);
    const bool cut = json::flag_at(node, "/cut").value_or(false);
    std::printf("node     %s  %s\n", std::string(json::text_or(node, "/name", "")).c_str(),
                !on   ? "stopped"
                : cut ? "cut off"
                      : "on");
  }
  return {};
}

bool confirmed(const sandbox::Folder& folder) {
  if (::isatty(STDIN_FILENO) != 1) return false;
  std::printf("This removes everything in %s, with the data of all clusters. Type yes: ",
              folder.path().c_str());
  std::fflush(stdout);
  std::string said;
  std::getline(std::cin, said);
  return said == "yes";
}

Result<void> reset(const SandboxPlace& place, bool yes) {
  TRY(const auto folder, place.folder());
  if (!folder.is_ours()) {
    std::printf("there is no sandbox in %s\n", folder.path().c_str());
    return {};
  }
  if (folder.holder())
    return fail(Code::kConflict, "a sandbox runs in " + folder.path() + "; stop it first");
  if (!yes && !confirmed(folder))
    return fail(
        Code::kInvalid,
        "nothing was removed; say --yes to remove the data of all clusters in " + folder.path());
  TRY(const auto lock, folder.lock());
  TRY(folder.remove());
  std::printf("removed\n");
  return {};
}

}  // namespace

void add_sandbox_life(CLI::App& sandbox, int& exit_code) {
  auto place = std::make_shared<SandboxPlace>();
  auto yes = std::make_shared<bool>(false);
  auto* stopping = sandbox.add_subcommand("stop", "End it, members in peace; everything is kept");
  stopping->footer("Example:\n  quorate sandbox stop");
  add_place(*stopping, *place);
  stopping->callback([place, &exit_code] { exit_code = finish_sandbox("stop", stop(*place)); });
  auto* showing = sandbox.add_subcommand("status", "Whether it runs, where, and how its nodes are");
  showing->footer("Example:\n  quorate sandbox status");
  add_place(*showing, *place);
  showing->callback(
      [place, &exit_code] { exit_code = finish_sandbox("status", show_status(*place)); });
  auto* resetting = sandbox.add_subcommand("reset", "Remove what it has kept, all data included");
  resetting->footer(
      "Examples:\n  quorate sandbox reset          asks, since the data of all clusters goes\n"
      "  quorate sandbox reset --yes    for scripts");
  add_place(*resetting, *place);
  resetting->add_flag("--yes", *yes, "Do not ask");
  resetting->callback(
      [place, yes, &exit_code] { exit_code = finish_sandbox("reset", reset(*place, *yes)); });
}

}  // namespace quorate::cmd

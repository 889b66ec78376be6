#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "cmd/quorate/commands.h"

using namespace quorate::cmd;

namespace {

// For flags that are not there: those that were probably meant.
void suggest_flags(const CLI::App& app) {
  for (const auto* command : app.get_subcommands()) {
    std::vector<std::string> flags;
    for (const auto* option : command->get_options())
      for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
    const std::vector<std::string_view> candidates(flags.begin(), flags.end());
    for (const auto& unknown : command->remaining())
      if (const auto nearest =
              quorate::nearest_name(unknown.substr(0, unknown.find('=')), candidates);
          nearest && unknown.starts_with("--"))
        std::fprintf(stderr, "%s: did you mean %s?\n", unknown.c_str(), nearest->data());
  }
}

// The command that the words lead to.
const CLI::App& last_command(const CLI::App& app) {
  const auto below = app.get_subcommands();
  return below.empty() ? app : last_command(*below.back());
}

// Where another word was expected to say which command: what there is, or what was probably meant.
// False if that was not the mistake.
bool explain_command(const CLI::App& app) {
  const auto& command = last_command(app);
  const auto below = command.get_subcommands([](const CLI::App*) { return true; });
  if (below.empty()) return false;
  const auto words = command.remaining();
  if (words.empty()) {
    std::fputs(app.help().c_str(), stderr);
    return true;
  }
  if (words.front().starts_with("-")) return false;
  std::vector<std::string> names;
  for (const auto* one : below) names.push_back(one->get_name());
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const auto nearest = quorate::nearest_name(words.front(), candidates);
  std::fprintf(stderr, "%s: there is no such command; %s\n", words.front().c_str(),
               nearest ? ("did you mean " + std::string(*nearest) + "?").c_str()
                       : ("there is " + quorate::join(names, ", ")).c_str());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  // As kubectl-quorate it is a plugin of kubectl.
  const bool plugin = std::string_view(argv[0]).ends_with("kubectl-quorate");
  CLI::App app("Quorate keeps etcd quorate: it creates and heals etcd clusters on Kubernetes.",
               plugin ? "kubectl quorate" : "quorate");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 this machine refuses something that is "
      "needed, 4 there is no such cluster, 5 not in place in time.");
  int exit_code = kOk;
  add_status(app, exit_code);
  add_why(app, exit_code);
  add_acts(app, exit_code);
  add_etcdctl(app, exit_code);
  add_dashboard(app, exit_code);
  add_sandbox(app, exit_code);
  add_operator(app, exit_code);
  add_fabric(app, exit_code);
  add_node(app, exit_code);
  add_manifests(app, exit_code);
  add_completion(app, exit_code);
  add_version(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    if (explain_command(app)) return kUsage;
    app.exit(error);
    suggest_flags(app);
    return kUsage;
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) == 0) return kOk;
    suggest_flags(app);
    return kUsage;
  }
  return exit_code;
}

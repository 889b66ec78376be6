#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/strings.h"
#include "cmd/quorate/commands.h"

// `quorate completion`: made from the commands and flags that the program has, so that it never
// knows others. Names of clusters are asked for when they are needed.
namespace quorate::cmd {
namespace {

struct Words {
  std::string command;
  std::vector<std::string> flags;
  bool takes_cluster = false;
};

std::vector<Words> words_of(const CLI::App& app) {
  std::vector<Words> out;
  for (const auto* command : app.get_subcommands({})) {
    Words words{command->get_name(), {}, false};
    for (const auto* option : command->get_options()) {
      for (const auto& name : option->get_snames()) words.flags.push_back("-" + name);
      for (const auto& name : option->get_lnames()) words.flags.push_back("--" + name);
      words.takes_cluster |= option->get_positional() && option->get_name(true) == "cluster";
    }
    out.push_back(std::move(words));
  }
  return out;
}

// $COMMANDS and $CASES stand for what the program knows of itself.
constexpr std::string_view kBash = R"sh(# For bash: source <(quorate completion bash)
_quorate() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} flags= clusters= i
  local where=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "$COMMANDS" -- "$word"))
    return
  fi
  case $command in
$CASES
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [[ $clusters ]]; then
    for ((i = 2; i < COMP_CWORD; ++i)); do
      case ${COMP_WORDS[i]} in
        -n | --namespace | --kubeconfig | --context) where+=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}") ;;
      esac
    done
    COMPREPLY=($(compgen -W "$(quorate status -o name "${where[@]}" 2>/dev/null)" -- "$word"))
  fi
}
complete -F _quorate quorate
)sh";

void replace(std::string& text, std::string_view what, const std::string& with) {
  text.replace(text.find(what), what.size(), with);
}

std::string bash(const std::vector<Words>& all) {
  std::vector<std::string> commands, cases;
  for (const auto& words : all) {
    commands.push_back(words.command);
    cases.push_back(fmt::format("    {}) flags=\"{}\"; clusters={} ;;", words.command,
                                join(words.flags, " "), words.takes_cluster ? "yes" : ""));
  }
  std::string out(kBash);
  replace(out, "$COMMANDS", join(commands, " "));
  replace(out, "$CASES", join(cases, "\n"));
  return out;
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  auto* command = app.add_subcommand("completion", "Print what completes commands in a shell");
  command->footer(
      "bash:  source <(quorate completion bash)\n"
      "zsh:   source <(quorate completion zsh)");
  command->add_option("shell", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  command->callback([shell, &app, &exit_code] {
    const auto script = bash(words_of(app));
    // zsh understands what was written for bash once it is told to.
    if (*shell == "zsh") std::fputs("autoload -U +X bashcompinit && bashcompinit\n", stdout);
    std::fputs(script.c_str(), stdout);
    exit_code = kOk;
  });
}

}  // namespace quorate::cmd

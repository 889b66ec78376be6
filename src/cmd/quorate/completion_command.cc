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

// A command, and what may follow it.
struct Words {
  std::string path;  // "sandbox node stop"
  std::vector<std::string> commands;
  std::vector<std::string> flags;
  bool takes_cluster = false;
};

void add_words(const CLI::App& command, const std::string& path, std::vector<Words>& out) {
  Words words{path, {}, {}, false};
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_snames()) words.flags.push_back("-" + name);
    for (const auto& name : option->get_lnames()) words.flags.push_back("--" + name);
    words.takes_cluster |= option->get_positional() && option->get_name(true) == "cluster";
  }
  const auto below = command.get_subcommands({});
  for (const auto* one : below) words.commands.push_back(one->get_name());
  out.push_back(std::move(words));
  for (const auto* one : below)
    add_words(*one, path.empty() ? one->get_name() : path + " " + one->get_name(), out);
}

// $COMMANDS and $CASES stand for what the program knows of itself.
constexpr std::string_view kBash = R"sh(# For bash: source <(quorate completion bash)
_quorate() {
  local word=${COMP_WORDS[COMP_CWORD]} path= commands="$COMMANDS" flags= clusters= i
  local where=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ " $commands " == *" ${COMP_WORDS[i]} "* ]] || break
    path+="${path:+ }${COMP_WORDS[i]}"
    case $path in
$CASES
    esac
  done
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [[ $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$word"))
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

// zsh understands what was written for bash once it is told to, which needs its own completion.
constexpr const char* kZsh = R"sh(# For zsh: source <(quorate completion zsh)
autoload -Uz compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
)sh";

void replace(std::string& text, std::string_view what, const std::string& with) {
  text.replace(text.find(what), what.size(), with);
}

// The first of `all` is the program itself.
std::string bash(const std::vector<Words>& all) {
  std::vector<std::string> cases;
  for (auto words = all.begin() + 1; words != all.end(); ++words)
    cases.push_back(fmt::format("      \"{}\") commands=\"{}\"; flags=\"{}\"; clusters={} ;;",
                                words->path, join(words->commands, " "), join(words->flags, " "),
                                words->takes_cluster ? "yes" : ""));
  std::string out(kBash);
  replace(out, "$COMMANDS", join(all.front().commands, " "));
  replace(out, "$CASES", join(cases, "\n"));
  return out;
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  auto* command = app.add_subcommand("completion", "Print what completes commands in a shell");
  command->footer(
      "Examples:\n  source <(quorate completion bash)    in ~/.bashrc\n"
      "  source <(quorate completion zsh)     in ~/.zshrc");
  command->add_option("shell", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  command->callback([shell, &app, &exit_code] {
    std::vector<Words> all;
    add_words(app, "", all);
    const auto script = bash(all);
    if (*shell == "zsh") std::fputs(kZsh, stdout);
    std::fputs(script.c_str(), stdout);
    exit_code = kOk;
  });
}

}  // namespace quorate::cmd

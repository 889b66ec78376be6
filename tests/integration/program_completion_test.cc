#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/integration/program_people.h"
#include "tests/support/temp_dir.h"

// Completion in real shells at a terminal: keys are typed, and what the line holds after Tab
// counts.
namespace quorate::test {
namespace {

using ::testing::ElementsAre;

class Completion : public People {
 protected:
  // The lines that the shell has made of these; Tab is pressed at the end of each.
  std::vector<std::string> completed(const std::string& shell,
                                     const std::vector<std::string>& typed) {
    const auto out = folder_.path() / (shell + ".out");
    std::string keys;
    for (const auto& line : typed) keys += line + "\t" + kShow;
    // The keyboard stays there until the shell has ended: it is a pipe with a second writer.
    support::Command command{.argv = {"bash", "-c",
                                      "mkfifo \"$OUT.keys\" && exec 3<>\"$OUT.keys\" && printf %s "
                                      "\"$KEYS\" >&3 && exec script -qec \"$RUN\" /dev/null <&3"}};
    command.env = {{"KUBECONFIG", kube_->admin_kubeconfig().string()},
                   {"PATH", std::string(QUORATE_BINARY_DIR) + ":" + std::getenv("PATH")},
                   {"HOME", folder_.path().string()},
                   {"ZDOTDIR", folder_.path().string()},
                   {"TERM", "xterm"},
                   {"OUT", out.string()},
                   {"RUN", shell_command(shell)},
                   {"KEYS", keys + "exit\r"}};
    support::run(command);
    std::ifstream in(out);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

 private:
  static constexpr const char* kShow = "\x14";  // Control-T, which begins no longer sequence

  // The shell, in which Control-T notes the line and empties it.
  std::string shell_command(const std::string& shell) {
    if (shell == "zsh") {
      std::ofstream(folder_.path() / ".zshrc")
          << "source <(quorate completion zsh)\n"
             "note() { print -r -- \"$BUFFER\" >>$OUT; BUFFER=; }\n"
             "zle -N note\nbindkey '^T' note\n";
      return "zsh -i";
    }
    const auto file = folder_.path() / "bashrc";
    std::ofstream(file) << "source <(quorate completion bash)\n"
                           "note() { echo \"$READLINE_LINE\" >>$OUT; READLINE_LINE=; }\n"
                           "bind -x '\"\\C-t\": note'\n";
    return "bash --rcfile " + file.string() + " -i";
  }

  support::TempDir folder_;
};

TEST_F(Completion, KnowsCommandsAndFlagsInBashAndZsh) {
  for (const auto* shell : {"bash", "zsh"})
    EXPECT_THAT(completed(shell, {"quorate st", "quorate sandbox no", "quorate scale --rep",
                                  "quorate dashboard --all"}),
                ElementsAre("quorate status ", "quorate sandbox node ", "quorate scale --replicas ",
                            "quorate dashboard --all-namespaces "))
        << shell;
}

// Without a terminal: shells throw away what is typed while they ask for names.
TEST_F(Completion, AsksForTheNamesOfClusters) {
  done({"create", "db"});
  for (const std::string command : {"why", "etcdctl"}) {
    support::Command shell{.argv = {"bash", "-c",
                                    "source <(quorate completion bash)\nCOMP_WORDS=(quorate " +
                                        command + " -n " + ns_ +
                                        " d)\nCOMP_CWORD=4\n_quorate\necho \"${COMPREPLY[@]}\""}};
    shell.env = {{"KUBECONFIG", kube_->admin_kubeconfig().string()},
                 {"PATH", std::string(QUORATE_BINARY_DIR) + ":" + std::getenv("PATH")}};
    EXPECT_EQ(support::run(shell).out, "db\n") << command;
  }
}

}  // namespace
}  // namespace quorate::test

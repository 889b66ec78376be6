#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "tests/integration/program_people.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

// `quorate status --watch`, in a pipe and on a terminal.
namespace quorate::test {
namespace {

using namespace std::chrono_literals;
using support::Look;
using ::testing::HasSubstr;
using ::testing::Not;

class Watch : public People {
 protected:
  support::Process start(support::Command command) {
    command.log = log();
    return support::Process::start(command);
  }
  std::filesystem::path log() const { return folder_.path() / "out"; }
  std::string seen() const {
    std::ifstream in(log());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void wait_for(const std::string& text) {
    support::eventually(30s, "\"" + text + "\" is shown", [&] {
      const auto all = seen();
      return Look(all.find(text) != std::string::npos, all);
    });
  }

  support::TempDir folder_;
};

TEST_F(Watch, InAPipeIsALineForEachChange) {
  done({"create", "db"});
  auto watch = start({.argv = {program(), "status", "db", "-w", "-n", ns_},
                      .env = {{"KUBECONFIG", kube_->admin_kubeconfig().string()}}});
  wait_for("No operator has looked at it yet");
  for (const auto* ready : {"1/3", "2/3", "3/3"}) {
    say_in_status(fmt::format(R"({{"phase": "Forming", "ready": "{}"}})", ready));
    wait_for(std::string(ready) + " ready");
  }
  watch.stop();

  std::vector<std::string> lines;
  std::ifstream in(log());
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4u) << seen();
  const std::regex shape(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  \S+/db: .*)");
  for (const auto& line : lines) EXPECT_TRUE(std::regex_match(line, shape)) << line;
  EXPECT_THAT(lines[3], HasSubstr(ns_ + "/db: Forming, 3/3 ready"));
}

TEST_F(Watch, OnATerminalRedrawsAndKeepsWhatWasScrolledAway) {
  done({"create", "db"});
  auto watch = start(at_terminal("status db -w"));
  wait_for("No operator has looked at it yet");
  say_in_status(R"({"phase": "Forming", "ready": "1/3"})");
  wait_for("1/3 ready");
  watch.stop();
  EXPECT_THAT(seen(), HasSubstr("\x1b[H\x1b[J")) << "each page is drawn over the last";
  EXPECT_THAT(seen(), Not(HasSubstr("\x1b[3J"))) << "that would empty the scrollback";
}

TEST_F(Watch, OfAClusterThatIsNotThereEndsAtOnce) {
  const auto output = quorate({"status", "db", "-w"});
  EXPECT_EQ(output.status.code, 4);
  EXPECT_THAT(output.err, HasSubstr("there is no EtcdCluster db"));
  EXPECT_EQ(output.out, "");
}

}  // namespace
}  // namespace quorate::test

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/process.h"

// What the program says of itself.
namespace quorate::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

using Words = std::vector<std::string>;

support::Output quorate(Words words) {
  words.insert(words.begin(), std::string(QUORATE_BINARY_DIR) + "/quorate");
  return support::run({.argv = std::move(words)});
}

std::string help(Words path) {
  path.push_back("--help");
  const auto output = quorate(path);
  EXPECT_EQ(output.status.code, 0) << output.err;
  return output.out;
}

// The names below "Subcommands:".
Words commands_in(const std::string& page) {
  Words out;
  std::istringstream lines(page);
  bool listed = false;
  for (std::string line; std::getline(lines, line);) {
    if (listed && line.starts_with("  ") && line[2] != ' ')
      out.push_back(line.substr(2, line.find(' ', 2) - 2));
    if (listed && line.empty()) break;
    listed |= line == "Subcommands:";
  }
  return out;
}

// Every command and every command below one: says what it does, and gives an example.
void walk(const Words& path, int& seen) {
  std::string name = "quorate";
  for (const auto& word : path) name += " " + word;
  const auto page = help(path);
  if (!path.empty()) {
    ++seen;
    EXPECT_THAT(page.substr(0, page.find('\n')), MatchesRegex("[A-Z].{8,}")) << name;
    EXPECT_THAT(page, HasSubstr("Example")) << name;
    EXPECT_THAT(page.substr(page.find("Example")), HasSubstr("quorate ")) << name;
  }
  for (const auto& command : commands_in(page)) {
    auto below = path;
    below.push_back(command);
    walk(below, seen);
  }
}

TEST(Help, TellsOfEveryCommandWhatItDoesWithAnExample) {
  int seen = 0;
  walk({}, seen);
  EXPECT_GE(seen, 30) << "commands were found";
}

TEST(Help, NamesAllExitCodes) {
  const auto page = help({});
  for (const auto* code :
       {"0 ok", "1 failed", "2 wrong", "3 this machine", "4 there is no such", "5 not in place"})
    EXPECT_THAT(page, HasSubstr(code));
}

TEST(Help, CorrectsATypo) {
  const auto output = quorate({"scale", "db", "--replcas", "3"});
  EXPECT_EQ(output.status.code, 2);
  EXPECT_THAT(output.err, HasSubstr("did you mean --replicas?"));
}

TEST(Help, NamesTheCommandThatWasProbablyMeant) {
  const auto near = quorate({"sandbox", "node", "mned", "node-1"});
  EXPECT_EQ(near.status.code, 2);
  EXPECT_EQ(near.err, "mned: there is no such command; did you mean mend?\n");
  const auto far = quorate({"xyzzy"});
  EXPECT_EQ(far.status.code, 2);
  EXPECT_THAT(far.err, HasSubstr("xyzzy: there is no such command; there is status, why, create,"));
}

TEST(Help, IsShownWhereACommandIsMissing) {
  const auto bare = quorate({});
  EXPECT_EQ(bare.status.code, 2);
  EXPECT_EQ(bare.err, help({}));
  const auto group = quorate({"sandbox", "node"});
  EXPECT_EQ(group.status.code, 2);
  EXPECT_EQ(group.err, help({"sandbox", "node"}));
}

TEST(Version, IsPrinted) {
  const auto output = quorate({"version"});
  EXPECT_EQ(output.status.code, 0);
  EXPECT_THAT(output.out, MatchesRegex("quorate [0-9]+\\.[0-9]+\\.[0-9]+[^ ]*\n"));
}

}  // namespace
}  // namespace quorate::test

#include "rt/line_splitter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace quorate::rt {
namespace {

TEST(LineSplitter, GivesLinesWithoutTheirEnds) {
  std::vector<std::string> lines;
  LineSplitter splitter([&](std::string_view line) { lines.emplace_back(line); });
  splitter.feed("one\ntw");
  splitter.feed("o\n\nthree");
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", ""}));
  splitter.flush();
  splitter.flush();
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "", "three"}));
}

TEST(LineSplitter, GivesALineThatIsTooLongInPieces) {
  std::vector<std::string> lines;
  LineSplitter splitter([&](std::string_view line) { lines.emplace_back(line); }, 4);
  splitter.feed("abcdefghij\nk\n");
  EXPECT_EQ(lines, (std::vector<std::string>{"abcd", "efgh", "ij", "k"}));
}

// How the bytes happen to arrive does not matter.
RC_GTEST_PROP(LineSplitter, TheCutsOfTheInputDoNotMatter, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', '\n'));
  auto split = [&text](std::size_t piece) {
    std::vector<std::string> lines;
    LineSplitter splitter([&](std::string_view line) { lines.emplace_back(line); }, 5);
    for (std::size_t at = 0; at < text.size(); at += piece) splitter.feed(text.substr(at, piece));
    splitter.flush();
    return lines;
  };
  RC_ASSERT(split(1) == split(text.size() + 1));
  RC_ASSERT(split(*rc::gen::inRange<std::size_t>(1, 8)) == split(1));
}

}  // namespace
}  // namespace quorate::rt

#include "datadir/note.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace quorate::datadir {
namespace {

const Note kNote{"uid", "c-0", 2, "uid-1", true, "cafe", "1", 98};

TEST(Note, ReadsBackWhatItWrote) {
  EXPECT_EQ(*parse_note(render_note(kNote)), kNote);
  EXPECT_EQ(*parse_note(render_note({})), Note{});
}

TEST(Note, IsReadableByPeople) {
  EXPECT_EQ(render_note(kNote),
            "quorate-note 1\ncluster-uid=uid\nmember=c-0\nincarnation=2\ntoken=uid-1\n"
            "verified=true\ncluster-id=cafe\nmember-id=1\ncommitted=98\nend\n");
}

TEST(Note, IsRefusedUnlessItIsWhole) {
  auto text = render_note(kNote);
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(parse_note(text.substr(0, length)).error().code(), Code::kCorrupt) << length;
  EXPECT_FALSE(parse_note(text + "x"));
  EXPECT_FALSE(parse_note(text + "\n"));
}

TEST(Note, IsRefusedInAnotherFormat) {
  auto text = render_note(kNote);
  auto replaced = [&](const std::string& from, const std::string& to) {
    auto copy = text;
    copy.replace(copy.find(from), from.size(), to);
    return copy;
  };
  EXPECT_FALSE(parse_note(replaced("quorate-note 1", "quorate-note 2")));
  EXPECT_FALSE(parse_note(replaced("member=", "members=")));
  EXPECT_FALSE(parse_note(replaced("verified=true", "verified=yes")));
  EXPECT_FALSE(parse_note(replaced("committed=98", "committed=-1")));
  EXPECT_FALSE(parse_note(replaced("incarnation=2", "incarnation=0")));
  EXPECT_FALSE(parse_note(replaced("incarnation=2", "incarnation=9999999999")));
}

TEST(Note, SurvivesAnyBytes) {
  EXPECT_TRUE(rc::check("total", [](const std::string& text) {
    if (auto note = parse_note(text)) RC_ASSERT(render_note(*note) == text);
  }));
}

}  // namespace
}  // namespace quorate::datadir

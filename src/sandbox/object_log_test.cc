#include "sandbox/object_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quorate::sandbox {
namespace {

using ::testing::HasSubstr;

LogEntry put(std::int64_t version, const std::string& name, const std::string& value) {
  return {version,
          "v1/configmaps",
          {"default", name},
          R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"("},"data":")" +
              value + "\"}"};
}
LogEntry gone(std::int64_t version, const std::string& name) {
  return {version, "v1/configmaps", {"default", name}, ""};
}

const LogContents kBegin{7, {put(3, "a", "1"), put(7, "b", "1")}, 0};

std::string why_not(const std::string& text) {
  const auto read = read_log(text);
  if (read) return "it was read";
  EXPECT_EQ(read.error().code(), Code::kCorrupt);
  return read.error().text();
}

TEST(ObjectLog, GivesBackWhatStandsAfterTheLastCommit) {
  const auto text = render_log(kBegin) + render_entry(put(8, "c", "1")) +
                    render_entry(put(9, "a", "2")) + render_entry(gone(10, "b"));
  const auto read = read_log(text);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, (LogContents{10, {put(8, "c", "1"), put(9, "a", "2")}, 0}));
  EXPECT_EQ(*read_log(render_log(*read)), *read) << "compaction changes nothing";
}

TEST(ObjectLog, CutsACommitThatIsNotWholeWhereverItEnds) {
  const auto whole = render_log(kBegin) + render_entry(put(8, "c", "1"));
  const auto last = render_entry(put(9, "d", "1"));
  for (std::size_t size = 0; size < last.size(); ++size) {
    const auto read = read_log(whole + last.substr(0, size));
    ASSERT_TRUE(read) << size << ": " << read.error().text();
    EXPECT_EQ(read->version, 8);
    EXPECT_EQ(read->cut, size);
  }
  EXPECT_EQ(read_log(whole + last)->version, 9);
}

TEST(ObjectLog, CutsACommitOfWhichPagesAreMissing) {
  const auto whole = render_log(kBegin) + render_entry(put(8, "c", "1"));
  const auto last = render_entry(put(9, "d", "1"));
  for (std::size_t size = 1; size < last.size(); ++size) {
    auto front = last;
    front.replace(0, size, size, '\0');
    EXPECT_EQ(read_log(whole + front)->version, 8) << size;
    auto back = last;
    back.replace(size, last.size() - size, last.size() - size, '\0');
    EXPECT_EQ(read_log(whole + back)->version, 8) << size;
  }
}

TEST(ObjectLog, RefusesDamageBeforeTheLastCommit) {
  const auto head = render_log(kBegin);
  const auto middle = render_entry(put(8, "c", "1"));
  const auto last = render_entry(put(9, "d", "1"));
  for (std::size_t at = 0; at < head.size() + middle.size(); ++at) {
    auto text = head + middle + last;
    text[at] = static_cast<char>(text[at] ^ 1);
    EXPECT_FALSE(read_log(text)) << "a wrong bit in byte " << at;
  }
  auto damaged = middle;
  damaged[20] = '?';
  EXPECT_THAT(why_not(head + damaged + last), HasSubstr("line 4: it is damaged"));
}

TEST(ObjectLog, RefusesLinesThatAreMissingOrTwice) {
  const auto head = render_log(kBegin);
  EXPECT_THAT(why_not(head + render_entry(put(9, "c", "1"))),
              HasSubstr("line 4: version 9 does not follow version 7"));
  const auto commit = render_entry(put(8, "c", "1"));
  EXPECT_THAT(why_not(head + commit + commit), HasSubstr("version 8 does not follow version 8"));
  EXPECT_THAT(why_not(head + render_entry(gone(8, "x"))), HasSubstr("removes what is not there"));
  EXPECT_THAT(why_not(head.substr(0, head.size() - 1)), HasSubstr("damaged"))
      << "what stood is written as a whole";
  EXPECT_THAT(why_not(render_log({7, {put(7, "a", "1"), put(3, "b", "1")}, 0})),
              HasSubstr("line 3: it is out of order"));
  EXPECT_THAT(why_not(render_log({7, {put(3, "a", "1"), put(7, "a", "1")}, 0})),
              HasSubstr("stands twice"));
}

TEST(ObjectLog, RefusesOtherFiles) {
  EXPECT_THAT(why_not(""), HasSubstr("line 1"));
  EXPECT_THAT(why_not("hello\n"), HasSubstr("line 1"));
  auto wrong = put(8, "c", "1");
  wrong.version = 8;
  wrong.object = put(9, "c", "1").object;
  EXPECT_THAT(why_not(render_log(kBegin) + render_entry(wrong)), HasSubstr("another version"));
}

}  // namespace
}  // namespace quorate::sandbox

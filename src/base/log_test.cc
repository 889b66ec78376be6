#include "base/log.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <type_traits>
#include <vector>

#include "base/bytes.h"

namespace quorate {
namespace {

using namespace std::chrono_literals;

static_assert(!std::is_constructible_v<LogValue, Secret>);
static_assert(!std::is_constructible_v<LogValue, const Secret&>);
static_assert(!std::is_constructible_v<LogValue, int*>);

struct Lines {
  std::vector<std::string> seen;
  Log log(LogFormat format, LogLevel level = LogLevel::kInfo) {
    return Log({.format = format,
                .level = level,
                .now = [] { return WallTime(1767366245678ms); },  // 2026-01-02T15:04:05.678Z
                .sink = [this](std::string_view line) { seen.emplace_back(line); }});
  }
};

TEST(Log, WritesOneJsonObjectALine) {
  Lines lines;
  auto log = lines.log(LogFormat::kJson).with("cluster", ClusterKey{{"n", "c"}});
  log.info("member added", {{"member", MemberId(0x8e9e)}, {"learner", true}, {"size", 3}});
  ASSERT_EQ(lines.seen.size(), 1U);
  EXPECT_EQ(lines.seen[0],
            R"({"time":"2026-01-02T15:04:05.678Z","level":"info","message":"member added",)"
            R"("cluster":"n/c","member":"8e9e","learner":true,"size":3})"
            "\n");
}

TEST(Log, WritesForPeople) {
  Lines lines;
  lines.log(LogFormat::kHuman)
      .with("cluster", "n/c")
      .warn("cannot read",
            {{"error", Error(Code::kTimeout, "too late").in("read x")}, {"after", 1500ms}});
  EXPECT_EQ(
      lines.seen.at(0),
      "15:04:05.678 WARN  cannot read  cluster=n/c error=\"read x: too late\" after=1.500s\n");
}

TEST(Log, DropsWhatIsBelowItsLevel) {
  Lines lines;
  auto log = lines.log(LogFormat::kHuman, LogLevel::kWarn);
  log.debug("a");
  log.info("b");
  log.warn("c");
  log.error("d");
  EXPECT_EQ(lines.seen.size(), 2U);
  EXPECT_FALSE(log.enabled(LogLevel::kInfo));
}

TEST(Log, DropsEverythingWhenItIsDefaultMade) {
  Log log;
  log.with("a", 1).error("nobody hears this");
  EXPECT_FALSE(log.enabled(LogLevel::kError));
}

TEST(Log, BindsFieldsToTheNewHandleOnly) {
  Lines lines;
  auto root = lines.log(LogFormat::kHuman);
  auto child = root.with("a", 1).with("b", 2);
  root.info("x");
  child.info("y");
  EXPECT_EQ(lines.seen.at(0), "15:04:05.678 INFO  x\n");
  EXPECT_EQ(lines.seen.at(1), "15:04:05.678 INFO  y  a=1 b=2\n");
}

TEST(Log, LetsALaterFieldReplaceAnEarlierOne) {
  Lines lines;
  lines.log(LogFormat::kHuman).with("a", 1).with("b", 2).with("a", 3).info("x", {{"b", 4}});
  EXPECT_EQ(lines.seen.at(0), "15:04:05.678 INFO  x  a=3 b=4\n");
}

TEST(Log, KeepsItsOwnKeysApart) {
  Lines lines;
  lines.log(LogFormat::kJson).info("x", {{"message", "y"}, {"level", 3}});
  EXPECT_NE(lines.seen.at(0).find(R"("message":"x","message_":"y","level_":3)"), std::string::npos);
}

TEST(Log, ShowsNoSecretInMessagesFieldsOrUnderSecretNames) {
  for (auto format : {LogFormat::kJson, LogFormat::kHuman}) {
    Lines lines;
    lines.log(format)
        .with("password", "hunter2")
        .with("note", "Bearer hunter2")
        .info("login with password=hunter2 at https://root:hunter2@host",
              {{"token", 4711},
               {"tls.key", "-----BEGIN PRIVATE KEY-----\nhunter2"},
               {"error", Error(Code::kInternal, "sent Authorization: Bearer hunter2")}});
    EXPECT_EQ(lines.seen.at(0).find("hunter2"), std::string::npos) << lines.seen.at(0);
    EXPECT_EQ(lines.seen.at(0).find("4711"), std::string::npos) << lines.seen.at(0);
  }
}

TEST(Log, ParsesItsLevels) {
  EXPECT_EQ(parse_log_level("Warn"), LogLevel::kWarn);
  EXPECT_FALSE(parse_log_level("loud"));
}

RC_GTEST_PROP(Log, StaysOneCleanLineWhateverItIsGiven,
              (const std::string& message, const std::string& key, const std::string& value)) {
  for (auto format : {LogFormat::kJson, LogFormat::kHuman}) {
    Lines lines;
    lines.log(format).with(key, value).info(message, {{value, message}});
    RC_ASSERT(lines.seen.size() == 1U);
    const auto& line = lines.seen[0];
    RC_ASSERT(is_valid_utf8(line));
    RC_ASSERT(line.back() == '\n');
    for (char c : line.substr(0, line.size() - 1))
      RC_ASSERT(static_cast<unsigned char>(c) >= 0x20U && c != 0x7f);
  }
}

}  // namespace
}  // namespace quorate

#include "node/log_reader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "json/timestamp.h"
#include "node/container_log.h"
#include "rt/virtual_loop.h"

namespace quorate::node {
namespace {

namespace fs = std::filesystem;

class LogReaderTest : public testing::Test {
 protected:
  LogReaderTest() {
    std::string pattern = fs::temp_directory_path() / "quorate-reader-XXXXXX";
    dir_ = ::mkdtemp(pattern.data());
  }
  ~LogReaderTest() override { fs::remove_all(dir_); }
  ContainerLog log(int attempt, std::size_t limit = 1000) const {
    return std::move(
        *ContainerLog::open(dir_ + "/" + std::to_string(attempt) + ".log", limit, *runtime_.clock));
  }
  Task<void> pass(Duration time) {
    static_cast<void>(co_await runtime_.clock->sleep_until(runtime_.in(time).at));
  }
  std::string since(WallTime when) const { return *LogReader::open(dir_, {.since = when})->read(); }
  std::string tail(std::uint64_t lines) const {
    return *LogReader::open(dir_, {.tail = lines})->read();
  }
  // The present time as logs have it.
  std::string stamp() const {
    auto text = json::render_micro_time(runtime_.clock->wall());
    return text.replace(text.size() - 1, 1, "000Z");
  }
  rt::VirtualLoop loop_{1};
  rt::Runtime runtime_ = loop_.actor("node");
  std::string dir_;
};

TEST_F(LogReaderTest, ReadsTheLastRunAndOnAsItGrows) {
  EXPECT_EQ(LogReader::open(dir_, {}).error().code(), Code::kNotFound);
  log(0).append("old\n");
  auto present = log(10);
  present.append("one\n");
  auto reader = LogReader::open(dir_, {});
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->attempt(), 10);
  EXPECT_EQ(*reader->read(), "one\n");
  EXPECT_EQ(*reader->read(), "");
  present.append("two\n");
  EXPECT_EQ(*reader->read(), "two\n");
  EXPECT_EQ(*LogReader::open(dir_, {.previous = true})->read(), "old\n");
}

TEST_F(LogReaderTest, KnowsNoEarlierRunThanTheFirst) {
  log(0).append("one\n");
  EXPECT_EQ(LogReader::open(dir_, {.previous = true}).error().code(), Code::kNotFound);
}

TEST_F(LogReaderTest, ShowsTheLastLines) {
  log(0).append("one\ntwo\nthree\n");
  EXPECT_EQ(tail(0), "");
  EXPECT_EQ(tail(1), "three\n");
  EXPECT_EQ(tail(2), "two\nthree\n");
  EXPECT_EQ(tail(3), "one\ntwo\nthree\n");
  EXPECT_EQ(tail(9), "one\ntwo\nthree\n");
  log(0).append("begun");
  EXPECT_EQ(tail(1), "begun");
  EXPECT_EQ(tail(2), "three\nbegun");
}

TEST_F(LogReaderTest, ShowsTheLastLinesOfALongLog) {
  auto present = log(0, 1 << 20);
  for (int i = 0; i < 20000; ++i) present.append("line " + std::to_string(i) + "\n");
  EXPECT_EQ(tail(2), "line 19998\nline 19999\n");
  const auto many = tail(15000);
  EXPECT_EQ(many.substr(0, 10), "line 5000\n");
}

TEST_F(LogReaderTest, GoesOnAfterTheLogWasCut) {
  auto present = log(0, 10);
  present.append("12345678\n");
  auto reader = LogReader::open(dir_, {});
  present.append("second\n");  // into a new file
  EXPECT_EQ(*reader->read(), "12345678\nsecond\n");
  present.append("third\n");
  EXPECT_EQ(*reader->read() + *reader->read(), "third\n");
  EXPECT_EQ(*reader->read(), "");
}

TEST_F(LogReaderTest, SaysWhenEachLineWasBegun) {
  auto present = log(0, 40);
  const auto shown = [&] {
    auto reader = *LogReader::open(dir_, {.timestamps = true});
    return *reader.read() + *reader.read();
  };
  const auto first = stamp();
  present.append("one\ntwo\nbeg");
  loop_.run(pass(std::chrono::milliseconds(250)));
  const auto second = stamp();
  present.append("un\nthree\n");
  EXPECT_EQ(shown(),
            first + " one\n" + first + " two\n" + first + " begun\n" + second + " three\n");
  auto follower = *LogReader::open(dir_, {.tail = 1, .timestamps = true});
  EXPECT_EQ(*follower.read(), second + " three\n");

  loop_.run(pass(std::chrono::seconds(1)));
  const auto third = stamp();
  present.append("a line that does not fit any more\nbehind\n");  // the second into a new file
  const auto last = third + " a line that does not fit any more\n" + third + " behind\n";
  EXPECT_EQ(*follower.read() + *follower.read(), last);
  EXPECT_EQ(shown(),
            first + " one\n" + first + " two\n" + first + " begun\n" + second + " three\n" + last);
}

TEST_F(LogReaderTest, ShowsWhatWasSaidSinceATime) {
  auto present = log(0);
  const auto first = runtime_.clock->wall();
  present.append("one\n");
  present.append("with one\n");
  loop_.run(pass(std::chrono::seconds(10)));
  const auto second = runtime_.clock->wall();
  present.append("two\n");
  loop_.run(pass(std::chrono::seconds(10)));
  present.append("three\n");
  EXPECT_EQ(since(first), "one\nwith one\ntwo\nthree\n");
  EXPECT_EQ(since(first + std::chrono::milliseconds(1)), "two\nthree\n");
  EXPECT_EQ(since(second), "two\nthree\n");
  EXPECT_EQ(since(second + std::chrono::hours(1)), "");
  EXPECT_EQ(*LogReader::open(dir_, {.tail = 1, .since = first})->read(), "three\n");
  EXPECT_EQ(*LogReader::open(dir_, {.tail = 9, .since = second})->read(), "two\nthree\n");
}

}  // namespace
}  // namespace quorate::node

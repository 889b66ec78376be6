#include "datadir/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "datadir/snapshot.h"
#include "datadir/wal_writer_test.h"

namespace quorate::datadir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Crc32c, IsCastagnolis) {
  EXPECT_EQ(crc32c(0, ""), 0u);
  EXPECT_EQ(crc32c(0, "123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(crc32c(0, "1234"), "56789"), 0xe3069283u);
  EXPECT_EQ(crc32c(0, std::string(32, '\0')), 0x8a9136aau);
}

TEST(SegmentName, IsReadAsEtcdWritesIt) {
  const SegmentName name{3, 0xabc};
  EXPECT_EQ(render_segment_name(name), "0000000000000003-0000000000000abc.wal");
  EXPECT_EQ(parse_segment_name(render_segment_name(name)), name);
  for (const char* wrong : {"", "0.tmp", "0000000000000003-0000000000000abc.wal.broken",
                            "0000000000000003_0000000000000abc.wal", "3-abc.wal",
                            "000000000000000x-0000000000000abc.wal"})
    EXPECT_EQ(parse_segment_name(wrong), std::nullopt) << wrong;
}

class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "quorate-log-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    data_ = name;
    fs::create_directories(data_ / "member/wal");
    fs::create_directories(data_ / "member/snap");
  }
  void TearDown() override { fs::remove_all(data_); }

  fs::path segment(const SegmentName& name) const {
    return data_ / "member/wal" / render_segment_name(name);
  }
  void put(const SegmentName& name, const std::string& text) {
    std::ofstream(segment(name), std::ios::binary) << text;
  }
  void put_snapshot(EntryId id, const std::string& text) {
    auto name = render_segment_name({id.term, id.index});
    name.replace(name.size() - 3, 3, "snap");
    std::ofstream(data_ / "member/snap" / name, std::ios::binary) << text;
  }
  Log read() {
    auto log = read_log(data_);
    EXPECT_TRUE(log) << log.error().text();
    return log ? *log : Log{};
  }

  fs::path data_;
};

// A member that formed a cluster of one and took a few writes.
WalWriter small_log() {
  WalWriter log;
  log.metadata(0x8e9e05c52164694d, 0xcdf818194e3a8c32).snapshot({0, 0});
  log.entry({1, 1}).state(1, 0).entry({2, 2}).state(2, 2).entry({2, 3}).state(2, 3);
  return log;
}

TEST_F(LogTest, SaysWhoseItIsAndHowFarItGoes) {
  put({0, 0}, small_log().preallocated());
  const auto log = read();
  EXPECT_EQ(log.damage, "");
  EXPECT_EQ(log.member_id, 0x8e9e05c52164694du);
  EXPECT_EQ(log.cluster_id, 0xcdf818194e3a8c32u);
  EXPECT_EQ(log.last_term, 2u);
  EXPECT_EQ(log.last_index, 3u);
  EXPECT_EQ(log.commit, 3u);
  EXPECT_EQ(log.tail, segment({0, 0}));
  EXPECT_FALSE(log.torn);
}

TEST_F(LogTest, EndsWhereANewLeaderCutItOff) {
  auto log = small_log();
  log.entry({2, 4}).entry({2, 5}).entry({2, 6}).entry({3, 4}).state(3, 3);
  put({0, 0}, log.preallocated());
  EXPECT_EQ(read().last_index, 4u);
  EXPECT_EQ(read().last_term, 3u);
}

TEST_F(LogTest, CountsASnapshotThatWasTakenOverFromTheLeader) {
  auto log = small_log();
  log.snapshot({5, 1000}).state(5, 1000);
  put({0, 0}, log.preallocated());
  put_snapshot({5, 1000}, render_snapshot({5, 1000}));
  EXPECT_EQ(read().last_index, 1000u);
  EXPECT_EQ(read().last_term, 5u);
  EXPECT_EQ(read().snapshot, 1000u);
}

TEST_F(LogTest, ReadsTheLastSegmentAlone) {
  auto first = small_log();
  put({0, 0}, "not looked at");
  WalWriter last(first.checksum());
  last.metadata(1, 2).state(2, 3);
  put({1, 4}, last.preallocated());
  auto log = read();
  EXPECT_EQ(log.damage, "");
  EXPECT_EQ(log.last_index, 3u) << "its name says where it goes on";
  last.entry({2, 4});
  put({1, 4}, last.preallocated());
  EXPECT_EQ(read().last_index, 4u);
}

// The machine died while the segment was made, and the file system kept nothing of it.
TEST_F(LogTest, LooksFurtherBackIfTheLastSegmentIsEmpty) {
  put({0, 0}, small_log().text());
  put({1, 4}, std::string(4096, '\0'));
  EXPECT_EQ(read().damage, "");
  EXPECT_EQ(read().last_index, 3u);
  EXPECT_EQ(read().member_id, 0x8e9e05c52164694du);
}

TEST_F(LogTest, NeedsEverySegmentFromTheSnapshotOn) {
  WalWriter last;
  last.metadata(1, 2).state(2, 30);
  put({2, 21}, last.preallocated());
  EXPECT_THAT(read().damage, HasSubstr("no snapshot reaches it"));
  put_snapshot({2, 25}, render_snapshot({2, 25}));
  EXPECT_EQ(read().damage, "");
  put({3, 31}, last.preallocated());
  EXPECT_EQ(read().damage, "");
  fs::remove(segment({2, 21}));
  put({1, 11}, last.preallocated());
  EXPECT_THAT(read().damage, HasSubstr("segment 2 is missing"));
}

TEST_F(LogTest, TakesTheNewestSnapshotThatIsWholeAndCommitted) {
  WalWriter last;
  last.metadata(1, 2).state(2, 30);
  put({2, 21}, last.preallocated());
  auto broken = render_snapshot({2, 28});
  broken.back() ^= 1;
  put_snapshot({2, 40}, render_snapshot({2, 40}));  // not committed here
  put_snapshot({2, 28}, broken);
  put_snapshot({2, 27}, render_snapshot({2, 26}));  // under a wrong name
  put_snapshot({2, 25}, render_snapshot({2, 25}));
  put_snapshot({2, 22}, render_snapshot({2, 22}));
  EXPECT_EQ(read().snapshot, 25u);
}

// etcd repairs a log whose last record was not written to its end: wherever it is cut.
TEST_F(LogTest, IsTornWhereverItIsCutOff) {
  auto log = small_log();
  const auto whole = log.text().size();
  log.entry({2, 4}, std::string(2000, 'v'));
  for (std::size_t size = whole + 1; size < log.text().size(); ++size) {
    put({0, 0}, log.text().substr(0, size));
    const auto seen = read();
    ASSERT_TRUE(seen.torn) << size;
    ASSERT_EQ(seen.damage, "") << size;
    ASSERT_EQ(seen.last_index, 3u) << size;
  }
}

// A sector of the last record never reached the disk.
TEST_F(LogTest, IsTornWhereASectorIsMissing) {
  auto log = small_log();
  const auto whole = log.text().size();
  log.entry({2, 4}, std::string(2000, 'v'));
  auto text = log.preallocated();
  const auto sector = (whole / 512 + 2) * 512;
  text.replace(sector, 512, 512, '\0');
  put({0, 0}, text);
  EXPECT_TRUE(read().torn);
  EXPECT_EQ(read().damage, "");
  EXPECT_EQ(read().last_index, 3u);
}

TEST_F(LogTest, IsDamagedWhereABitIsWrong) {
  auto log = small_log();
  const auto before = log.text().size();
  log.entry({2, 4}, std::string(100, 'v')).entry({2, 5});
  auto text = log.preallocated();
  text[before + 40] ^= 1;
  put({0, 0}, text);
  EXPECT_THAT(read().damage, HasSubstr("the checksum is wrong"));
  EXPECT_EQ(read().member_id, 0x8e9e05c52164694du) << "whose it is was said before";
}

// Whatever bit flips: the log is damaged, or ends earlier, or nothing that is read from it changes.
TEST_F(LogTest, NeverSaysMoreThanWasWritten) {
  const auto text = small_log().preallocated(64);
  for (std::size_t byte = 0; byte < text.size(); ++byte)
    for (int bit : {0, 3, 7}) {
      auto changed = text;
      changed[byte] = static_cast<char>(changed[byte] ^ (1 << bit));
      put({0, 0}, changed);
      const auto log = read();
      if (!log.damage.empty()) continue;
      ASSERT_LE(log.last_index, 3u) << byte;
      ASSERT_EQ(log.member_id, 0x8e9e05c52164694du) << byte;
    }
}

TEST_F(LogTest, PassesOverRecordsOfLaterVersions) {
  auto log = small_log();
  log.record(9, "something new").entry({2, 4});
  put({0, 0}, log.preallocated());
  EXPECT_EQ(read().damage, "");
  EXPECT_EQ(read().last_index, 4u);
}

TEST_F(LogTest, DoesNotTakeTheWordOfWhatIsNoLog) {
  EXPECT_THAT(read().damage, HasSubstr("no file has the name of a segment"));
  put({0, 0}, "");
  EXPECT_THAT(read().damage, HasSubstr("does not say whose it is"));
  put({0, 0}, std::string(1000, '\xff'));
  EXPECT_THAT(read().damage, HasSubstr("does not say whose it is")) << "a length beyond its end";
  fs::remove(segment({0, 0}));
  fs::create_directory(segment({0, 0}));
  EXPECT_THAT(read().damage, HasSubstr("no ordinary file"));
  fs::remove(segment({0, 0}));
  ASSERT_EQ(::mkfifo(segment({0, 0}).c_str(), 0600), 0);
  EXPECT_THAT(read().damage, HasSubstr("no ordinary file")) << "and it does not wait for a writer";
}

TEST_F(LogTest, SpeaksOfOneMemberAlone) {
  WalWriter log;
  log.metadata(1, 2).metadata(1, 3);
  put({0, 0}, log.preallocated());
  EXPECT_THAT(read().damage, HasSubstr("two members"));
}

}  // namespace
}  // namespace quorate::datadir

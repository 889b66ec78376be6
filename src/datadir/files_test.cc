#include "datadir/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace quorate::datadir {
namespace {

namespace fs = std::filesystem;

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "quorate-datadir-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    data_ = root_ / "data";
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const fs::path& file) {
    fs::create_directories((data_ / file).parent_path());
    std::ofstream(data_ / file) << "x";
  }

  // The heads of a database after so many transactions.
  void put_database(std::uint64_t transactions) {
    std::string pages(16384, '\0');
    const std::uint32_t magic = 0xed0cdaed;
    for (std::size_t page : {0u, 1u}) {
      std::memcpy(pages.data() + page * 4096 + 16, &magic, sizeof magic);
      const auto transaction = transactions - page;
      std::memcpy(pages.data() + page * 4096 + 64, &transaction, sizeof transaction);
    }
    fs::create_directories(data_ / "member/snap");
    std::ofstream(data_ / "member/snap/db") << pages;
  }

  fs::path root_;
  fs::path data_;
};

TEST_F(FilesTest, KnowsTheStatesOfADirectory) {
  EXPECT_EQ(*look_at(data_), Folder::kEmpty);
  fs::create_directory(data_);
  EXPECT_EQ(*look_at(data_), Folder::kEmpty);
  ASSERT_TRUE(prepare(data_));
  EXPECT_EQ(*look_at(data_), Folder::kPrepared);
  ASSERT_TRUE(prepare(data_)) << "twice is no harm";
  put_database(2);
  EXPECT_EQ(*look_at(data_), Folder::kNoLog);
  put("member/wal.tmp/0.wal");
  EXPECT_EQ(*look_at(data_), Folder::kNoLog);
  put("member/wal/0000000000000000-0000000000000000.wal");
  EXPECT_EQ(*look_at(data_), Folder::kData);
}

TEST_F(FilesTest, SeesThatADirectoryWasEmptiedHoweverItWasDone) {
  for (const char* victim : {"", "member", "member/snap"}) {
    ASSERT_TRUE(prepare(data_));
    put("member/wal/0.wal");
    fs::remove_all(data_ / "member/wal");
    fs::remove_all(data_ / victim);
    auto seen = *look_at(data_);
    EXPECT_TRUE(seen == Folder::kEmpty || seen == Folder::kOther) << victim;
    fs::remove_all(data_);
  }
}

// E4: a database that somebody copied there went through more transactions than to make it takes.
TEST_F(FilesTest, TellsAHalfRestoreFromAStartThatFailed) {
  for (std::uint64_t transactions : {1u, 2u}) {
    put_database(transactions);
    EXPECT_EQ(*look_at(data_), Folder::kNoLog) << transactions;
  }
  for (std::uint64_t transactions : {3u, 7u, 1000000u}) {
    put_database(transactions);
    EXPECT_EQ(*look_at(data_), Folder::kOther) << transactions;
  }
  put("member/snap/db");
  EXPECT_EQ(*look_at(data_), Folder::kOther) << "no database at all";
  put_database(2);
  put("member/snap/0000000000000001-0000000000000003.snap");
  EXPECT_EQ(*look_at(data_), Folder::kOther);
}

TEST_F(FilesTest, ClearsWhatAStartThatFailedLeft) {
  put_database(2);
  put("member/wal.tmp/0.wal");
  ASSERT_TRUE(clear_leftovers(data_));
  EXPECT_TRUE(fs::is_empty(data_ / "member/snap"));
  EXPECT_EQ(*look_at(data_), Folder::kNoLog) << "etcd deletes the empty wal.tmp itself";
  ASSERT_TRUE(clear_leftovers(data_));
}

TEST_F(FilesTest, KnowsWhatIsThere) {
  EXPECT_EQ(*is_there(data_), false);
  fs::create_directory(data_);
  EXPECT_EQ(*is_there(data_), true);
}

TEST_F(FilesTest, CallsWhatItDoesNotKnowOther) {
  put("lost+found/x");
  EXPECT_EQ(*look_at(data_), Folder::kOther);
  put("member/wal/readme");
  EXPECT_EQ(*look_at(data_), Folder::kOther) << "a folder for logs without one";
}

TEST_F(FilesTest, SaysWhenADirectoryCannotBeRead) {
  std::ofstream(data_.string()) << "a file";
  EXPECT_FALSE(look_at(data_));
}

TEST_F(FilesTest, PreparesForItsOwnerAlone) {
  ASSERT_TRUE(prepare(data_));
  struct stat facts {};
  ASSERT_EQ(::stat((data_ / "member").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

TEST_F(FilesTest, KeepsNotes) {
  auto path = (root_ / "note").string();
  EXPECT_EQ(*read_note(path), std::nullopt);
  Note note{"uid", "c-0", 1, "uid-1", false, "", "", 0};
  ASSERT_TRUE(write_durably(path, render_note(note), 0600));
  EXPECT_EQ(*read_note(path), note);
  note.verified = true;
  ASSERT_TRUE(write_durably(path, render_note(note), 0600));
  EXPECT_EQ(*read_note(path), note);
  EXPECT_FALSE(fs::exists(path + ".new")) << "what was written aside is gone";
}

TEST_F(FilesTest, TellsABrokenNoteFromNone) {
  auto path = (root_ / "note").string();
  std::ofstream(path) << "nonsense";
  EXPECT_EQ(read_note(path).error().code(), Code::kCorrupt);
  std::ofstream(path) << std::string(5000, 'x');
  EXPECT_EQ(read_note(path).error().code(), Code::kInvalid);
}

TEST_F(FilesTest, SaysWhichFileItCouldNotWrite) {
  auto written = write_durably((root_ / "absent" / "note").string(), "x", 0600);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().text().find("absent/note"), std::string::npos);
}

}  // namespace
}  // namespace quorate::datadir

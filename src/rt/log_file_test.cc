#include "rt/log_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

namespace quorate::rt {
namespace {

namespace fs = std::filesystem;

constexpr Bytes kLimit(1000);

class LogFileTest : public ::testing::Test {
 protected:
  LogFileTest() {
    std::string pattern = fs::temp_directory_path() / "quorate-logfile-XXXXXX";
    dir_ = ::mkdtemp(pattern.data());
  }
  ~LogFileTest() override { fs::remove_all(dir_); }
  std::string path() const { return dir_ / "log"; }
  fs::path dir_;
};

TEST_F(LogFileTest, GrowsAndIsReplacedAsAWhole) {
  MachineLogFile file(path());
  EXPECT_EQ(file.read(kLimit).error().code(), Code::kNotFound);
  ASSERT_TRUE(file.replace("one\n"));
  ASSERT_TRUE(file.append("two\n"));
  ASSERT_TRUE(file.append("three\n"));
  EXPECT_EQ(MachineLogFile(path()).read(kLimit), "one\ntwo\nthree\n");
  ASSERT_TRUE(file.replace("new\n"));
  ASSERT_TRUE(file.append("more\n"));
  EXPECT_EQ(*file.read(kLimit), "new\nmore\n");
  EXPECT_EQ(file.read(Bytes(3)).error().code(), Code::kInvalid);
  struct stat found {};
  ASSERT_EQ(::stat(path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(LogFileTest, AppendsOnlyToWhatItHasWritten) {
  ASSERT_TRUE(MachineLogFile(path()).replace("old\n"));
  MachineLogFile file(path());
  EXPECT_EQ(file.append("more").error().code(), Code::kUnavailable);
  EXPECT_EQ(*file.read(kLimit), "old\n");
}

TEST_F(LogFileTest, PassesOverWhatAnEarlierWriterLeftAside) {
  ASSERT_TRUE(MachineLogFile(path() + ".aside").replace("half of someth"));
  MachineLogFile file(path());
  ASSERT_TRUE(file.replace("whole\n"));
  EXPECT_EQ(*file.read(kLimit), "whole\n");
  EXPECT_FALSE(fs::exists(path() + ".aside"));
}

}  // namespace
}  // namespace quorate::rt

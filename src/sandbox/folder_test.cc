#include "sandbox/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace quorate::sandbox {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    std::string pattern = fs::temp_directory_path() / "quorate-folder-XXXXXX";
    dir_ = ::mkdtemp(pattern.data());
  }
  ~FolderTest() override { fs::remove_all(dir_); }
  fs::path dir_;
};

TEST_F(FolderTest, HasOneSandboxAtATime) {
  const Folder folder(dir_ / "s/");
  ASSERT_TRUE(folder.make());
  struct stat found {};
  ASSERT_EQ(::stat(folder.path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
  EXPECT_FALSE(folder.holder());
  auto lock = folder.lock();
  ASSERT_TRUE(lock) << lock.error().text();
  ASSERT_TRUE(folder.holder());
  EXPECT_EQ(folder.holder()->pid, ::getpid());
  const auto second = folder.lock();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::kConflict);
  EXPECT_THAT(second.error().text(), HasSubstr("process " + std::to_string(::getpid())));
  lock->reset();
  EXPECT_FALSE(folder.holder());
  EXPECT_TRUE(folder.lock()) << "a lock that nobody holds is free, whatever the file says";
}

TEST_F(FolderTest, RemovesWhatIsItsOwnAlone) {
  const Folder folder(dir_);
  EXPECT_FALSE(folder.is_ours());
  auto lock = folder.lock();
  ASSERT_TRUE(lock);
  EXPECT_TRUE(folder.is_ours());
  fs::create_directories(folder.nodes() + "/node-1");
  for (const auto& file : {folder.kubeconfig(), folder.objects(), (dir_ / "mine").string()})
    std::ofstream(file) << "x";
  ASSERT_TRUE(folder.remove());
  EXPECT_TRUE(fs::exists(dir_ / "mine"));
  fs::remove(dir_ / "mine");
  EXPECT_TRUE(fs::is_empty(dir_));
}

}  // namespace
}  // namespace quorate::sandbox

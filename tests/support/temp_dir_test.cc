#include "tests/support/temp_dir.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "tests/support/fd.h"

namespace quorate::support {
namespace {

namespace fs = std::filesystem;

TEST(TempDir, IsRemovedWithEverythingInIt) {
  fs::path path;
  {
    const TempDir folder;
    path = folder.path();
    fs::create_directories(path / "a/b");
    write_file(path / "a/b/file", "text");
    EXPECT_EQ(read_file(path / "a/b/file"), "text");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TempDir, CarriesTheNameOfTheTest) {
  const TempDir folder;
  EXPECT_NE(folder.path().string().find("TempDir.CarriesTheNameOfTheTest"), std::string::npos);
}

TEST(TempDir, IsKeptWhenAnExceptionEndsTheTest) {
  fs::path path;
  try {
    const TempDir folder;
    path = folder.path();
    throw std::runtime_error("the test goes wrong");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(fs::exists(path));
  fs::remove_all(path);
}

// The failure happens in a copy of this program, so that it is not one of this test.
TEST(TempDir, IsKeptAndNamedWhenTheTestFailed) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t copy = ::fork();
  if (copy == 0) {
    ::dup2(::open("/dev/null", O_WRONLY), 1);
    ::dup2(ends[1], 2);
    {
      const TempDir folder;
      ADD_FAILURE();
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  const Fd said(ends[0]);
  std::string text(1000, '\0');
  const ssize_t size = ::read(said.get(), text.data(), text.size());
  ASSERT_GT(size, 0);
  text.resize(static_cast<std::size_t>(size));
  ASSERT_EQ(::waitpid(copy, nullptr, 0), copy);
  ASSERT_TRUE(text.starts_with("kept: ")) << text;
  const fs::path path = text.substr(6, text.find('\n') - 6);
  EXPECT_TRUE(fs::exists(path)) << path;
  fs::remove_all(path);
}

}  // namespace
}  // namespace quorate::support

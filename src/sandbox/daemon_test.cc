#include "sandbox/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace quorate::sandbox {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class DaemonTest : public ::testing::Test {
 protected:
  DaemonTest() {
    std::string pattern = fs::temp_directory_path() / "quorate-daemon-XXXXXX";
    dir_ = ::mkdtemp(pattern.data());
  }
  ~DaemonTest() override { fs::remove_all(dir_); }
  std::string log() const { return dir_ / "log"; }
  std::string logged() const {
    std::ifstream file(log());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path dir_;
};

TEST_F(DaemonTest, GoesOnInASessionOfItsOwn) {
  const auto done = run_in_background(log(), [](const std::function<void()>& ready) {
    std::printf("session %d\n", ::getsid(0) == ::getpid() ? 1 : 0);
    std::fflush(stdout);
    ready();
    return Result<void>();
  });
  EXPECT_TRUE(done) << done.error().text();
  EXPECT_THAT(logged(), HasSubstr("session 1"));
}

TEST_F(DaemonTest, SaysWhyItCouldNotBegin) {
  const auto done = run_in_background(log(), [](const std::function<void()>&) {
    return Result<void>(fail(Code::kForbidden, "the kernel refuses"));
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Code::kForbidden);
  EXPECT_THAT(done.error().text(), HasSubstr("the kernel refuses"));
  EXPECT_THAT(logged(), HasSubstr("the kernel refuses"));
}

TEST_F(DaemonTest, NoticesThatItWasKilled) {
  const auto done =
      run_in_background(log(), [](const std::function<void()>&) -> Result<void> { ::_exit(9); });
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text(), HasSubstr(log()));
}

}  // namespace
}  // namespace quorate::sandbox

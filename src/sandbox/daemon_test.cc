#include "sandbox/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
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

// Between the daemon and the test, past the process that starts it.
class Line {
 public:
  Line() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Line() {
    for (int& end : ends_) shut(end);
  }
  void only_say() { shut(ends_[0]); }
  void only_hear() { shut(ends_[1]); }
  void say(std::string_view text) {
    if (::write(ends_[1], text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      ::_exit(1);
  }
  std::string hear(std::size_t most) {  // less, if nobody is left who could say more
    std::string text;
    char letter = 0;
    while (text.size() < most && ::read(ends_[0], &letter, 1) == 1) text += letter;
    return text;
  }
  void hang_up() { shut(ends_[1]); }

 private:
  static void shut(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  int ends_[2] = {-1, -1};
};

TEST_F(DaemonTest, GoesOnThoughWhoeverStartedItWasKilledMeanwhile) {
  Line to_test;
  Line to_daemon;
  const int starter = ::fork();
  if (starter == 0) {
    to_test.only_say();
    to_daemon.only_hear();
    const auto done = run_in_background(log(), [&](const std::function<void()>& ready) {
      to_test.say("begun");
      to_daemon.hear(1);
      ready();
      to_test.say("ready");
      return Result<void>();
    });
    ::_exit(done ? 0 : 1);
  }
  to_test.only_hear();
  to_daemon.only_say();
  EXPECT_EQ(to_test.hear(5), "begun");
  ::kill(starter, SIGKILL);
  ASSERT_EQ(::waitpid(starter, nullptr, 0), starter);
  to_daemon.hang_up();
  EXPECT_EQ(to_test.hear(100), "ready");
}

}  // namespace
}  // namespace quorate::sandbox

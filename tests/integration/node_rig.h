#pragma once

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

namespace quorate::node {

// Who runs a test's body. The suite is run as root on build machines, where both can be tried; an
// ordinary user can only be themselves.
enum class As { kSelf, kNobody };

inline constexpr uid_t kNobody = 65534;

// A directory for a test's own use, writable by whoever runs the body, removed afterwards.
class Scratch {
 public:
  explicit Scratch(As who = As::kSelf) {
    std::string pattern = std::filesystem::temp_directory_path() / "quorate-node-XXXXXX";
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
    if (who == As::kNobody && ::chown(path_.c_str(), kNobody, kNobody) != 0)
      throw std::runtime_error("chown failed");
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// In a process that was just forked: from now on it is that user, and it dies with its parent.
inline bool become(As who) {
  // A process that gives up root is not "dumpable" any more, and its /proc/self is root's; one that
  // was started by that user is.
  if (who == As::kNobody &&
      (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
       ::setresuid(kNobody, kNobody, kNobody) != 0 || ::prctl(PR_SET_DUMPABLE, 1) != 0))
    return false;
  return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;  // a change of the user would undo it
}

// Runs `body` in a process of its own, since entering namespaces cannot be undone. Its expectations
// count; what it prints is seen.
inline void run_apart(As who, const std::function<void()>& body) {
  std::fflush(nullptr);
  int pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    int code = 1;
    if (become(who)) {
      try {
        body();
        code = ::testing::Test::HasFailure() ? 1 : 0;
      } catch (const std::exception& broken) {
        std::fprintf(stderr, "exception: %s\n", broken.what());
      }
    } else {
      std::perror("become nobody");
    }
    std::fflush(nullptr);
    ::_exit(code);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << "the test's process failed, status " << status;
}

inline bool is_root() { return ::geteuid() == 0; }

// A test that is run by an ordinary user, and by root if root runs the suite.
class ByEachUser : public testing::TestWithParam<As> {
 public:
  static std::string name(const testing::TestParamInfo<As>& info) {
    return info.param == As::kNobody ? "Nobody" : "Self";
  }

 protected:
  void SetUp() override {
    if (GetParam() == As::kNobody && !is_root())
      GTEST_SKIP() << "only root can become uid 65534; the other case covers an ordinary user";
  }
};

}  // namespace quorate::node

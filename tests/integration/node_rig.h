#pragma once

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
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

namespace detail {
inline bool become(As who) {
  if (who == As::kSelf) return true;
  // A process that gives up root is not "dumpable" any more, and its /proc/self is root's; one that
  // was started by that user is.
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0 && ::prctl(PR_SET_DUMPABLE, 1) == 0;
}
}  // namespace detail

// Runs `body` in a process of its own, since entering namespaces cannot be undone. Its expectations
// count; what it prints is seen.
inline void run_apart(As who, const std::function<void()>& body) {
  std::fflush(nullptr);
  int pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    int code = 1;
    if (detail::become(who)) {
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

}  // namespace quorate::node

#include "rt/exec.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <climits>

#include "base/strings.h"

namespace quorate::rt {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> candidates(const std::string& name,
                                    const std::vector<std::string>& environment) {
  if (name.find('/') != std::string::npos) return {name};
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const auto& variable : environment)
    if (variable.starts_with("PATH=")) path = std::string_view(variable).substr(5);
  std::vector<std::string> out;
  for (auto folder : split(path, ':')) out.push_back(fmt::format("{}/{}", folder, name));
  return out;
}

}  // namespace

Result<Fd> above_standard_streams(Fd fd) {
  if (!fd || fd.get() > 2) return fd;
  Fd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  if (!moved) return fail(errno_error("duplicate a file descriptor", errno));
  return moved;
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(errno_error("make a pipe", errno));
  Fd read(ends[0]);
  Fd write(ends[1]);
  TRY(auto high_read, above_standard_streams(std::move(read)));
  TRY(auto high_write, above_standard_streams(std::move(write)));
  return Pipe{std::move(high_read), std::move(high_write)};
}

Exec::Exec(const std::vector<std::string>& arguments, const std::vector<std::string>& environment)
    : arguments_(pointers(arguments)),
      environment_(pointers(environment)),
      candidates_(candidates(arguments.front(), environment)) {}

void Exec::become() const {
  ::close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  errno = ENOENT;
  for (const auto& path : candidates_) {
    ::execve(path.c_str(), arguments_.data(), environment_.data());
    if (errno != ENOENT && errno != ENOTDIR) return;
  }
}

void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace quorate::rt

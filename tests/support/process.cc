#include "tests/support/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>

#include "tests/support/fixture_error.h"
#include "tests/support/guard.h"

namespace quorate::support {
namespace {

using std::chrono::milliseconds;

constexpr std::array kInherited = {
    "PATH",          "TMPDIR",       "QUORATE_CACHE", "ASAN_OPTIONS",
    "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS",  "ASAN_SYMBOLIZER_PATH"};

std::vector<std::string> environment(const std::map<std::string, std::string>& added) {
  std::map<std::string, std::string> all = added;
  for (const char* name : kInherited)
    if (const char* value = std::getenv(name)) all.try_emplace(name, value);
  std::vector<std::string> lines;
  for (const auto& [name, value] : all) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

// Where a program is, as a shell would find it. (Looked up before fork: exec's own search is not
// async-signal-safe.)
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string full = folder + "/" + name; ::access(full.c_str(), X_OK) == 0)
      return full;
  throw FixtureError("start " + name + ": it is not in the PATH");
}

// A file in memory with these contents, read from its beginning.
Fd memory_file(const std::string& contents) {
  Fd file(::memfd_create("quorate-test", MFD_CLOEXEC));
  if (!file) throw_errno("memfd_create");
  for (std::size_t done = 0; done < contents.size();) {
    const ssize_t n = ::write(file.get(), contents.data() + done, contents.size() - done);
    if (n < 0) throw_errno("write to memory");
    done += static_cast<std::size_t>(n);
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string contents_of(const Fd& file) {
  std::string text;
  std::array<char, 16384> buffer{};
  while (true) {
    const ssize_t n =
        ::pread(file.get(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (n < 0) throw_errno("read from memory");
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

Fd open_log(const std::filesystem::path& log) {
  const bool drop = log.empty();
  Fd file(
      ::open(drop ? "/dev/null" : log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file) throw_errno("open " + log.string());
  return file;
}

// Everything the child needs between fork and exec, prepared before: there it may only make
// async-signal-safe calls, because the program may have other threads.
struct ChildPlan {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* cwd;  // null: stay
  int in, out, err;
  int guard;
  int report;  // where the number of a failed call is written; closed by a successful exec
  pid_t parent;
};

[[noreturn]] void give_up(const ChildPlan& plan) {
  const int number = errno;
  [[maybe_unused]] const ssize_t n = ::write(plan.report, &number, sizeof number);
  ::_exit(127);
}

[[noreturn]] void become(const ChildPlan& plan) {
  ::setpgid(0, 0);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(plan);
  if (::getppid() != plan.parent) ::_exit(127);  // it died before the line above
  if (!guard::watch(plan.guard, ::getpid())) give_up(plan);
  if (plan.cwd != nullptr && ::chdir(plan.cwd) != 0) give_up(plan);
  if (::dup2(plan.in, 0) < 0 || ::dup2(plan.out, 1) < 0 || ::dup2(plan.err, 2) < 0) give_up(plan);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execve(plan.program, plan.argv, plan.envp);
  give_up(plan);
}

// Waits until the child has executed its program; the number of the call that failed otherwise.
int await_exec(const Fd& report) {
  int number = 0;
  ssize_t n = 0;
  do n = ::read(report.get(), &number, sizeof number);
  while (n < 0 && errno == EINTR);
  return n == sizeof number ? number : 0;
}

}  // namespace

std::string ExitStatus::text() const {
  return signal != 0 ? fmt::format("signal {}", signal) : fmt::format("exit {}", code);
}

struct Process::Streams {
  int in, out, err;
};

Process Process::start(const Command& command) {
  const Fd in = memory_file(command.input);
  const Fd log = open_log(command.log);
  return start(command, Streams{in.get(), log.get(), log.get()});
}

Process Process::start(const Command& command, const Streams& streams) {
  if (command.argv.empty()) throw FixtureError("start a process: no command");
  if (::gettid() != ::getpid())
    throw FixtureError("start " + command.argv[0] + ": not called from the main thread");
  const std::string program = find_program(command.argv[0]);
  std::vector<std::string> arguments = command.argv;
  std::vector<std::string> variables = environment(command.env);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(variables);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw_errno("pipe");
  Fd report(pipe[0]);
  Fd report_end(pipe[1]);
  const ChildPlan plan{program.c_str(),  argv.data(),
                       envp.data(),      command.cwd.empty() ? nullptr : command.cwd.c_str(),
                       streams.in,       streams.out,
                       streams.err,      guard::socket(),
                       report_end.get(), ::getpid()};
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno("fork");
  if (pid == 0) become(plan);
  report_end.reset();
  Process process(pid, open_pidfd(pid));
  if (const int number = await_exec(report); number != 0) {
    process.reap();
    throw_errno("start " + command.argv[0], number);
  }
  return process;
}

Process::~Process() {
  if (pidfd_ && !status_) kill();
}

bool Process::running() { return !wait(milliseconds(0)); }

std::optional<ExitStatus> Process::wait(milliseconds within) {
  if (status_) return status_;
  if (!ended(within)) return std::nullopt;
  return reap();
}

ExitStatus Process::stop(milliseconds grace) {
  if (status_) return *status_;
  ::kill(pid_, SIGTERM);
  ::kill(-pid_, SIGCONT);
  if (!ended(grace)) return kill();
  return reap();
}

ExitStatus Process::kill() {
  if (status_) return *status_;
  ::kill(-pid_, SIGKILL);
  return reap();
}

// The signal stops each thread when it next comes out of the kernel or onto a processor, which on a
// busy machine may be after a request was answered; the kernel reports the stop of the last one.
void Process::pause() {
  send(-pid_, SIGSTOP);
  siginfo_t info{};
  const int either = WSTOPPED | WEXITED | WNOWAIT;
  while (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, either) != 0)
    if (errno != EINTR) throw_errno(fmt::format("wait for the stop of process {}", pid_));
}
void Process::resume() { send(-pid_, SIGCONT); }
void Process::signal(int number) { send(pid_, number); }

void Process::send(pid_t target, int number) const {
  if (status_)
    throw FixtureError(fmt::format("signal process {}: it has ended: {}", pid_, status_->text()));
  if (::kill(target, number) != 0) throw_errno(fmt::format("signal process {}", pid_));
}

bool Process::ended(milliseconds within) const {
  const auto deadline = std::chrono::steady_clock::now() + within;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd item{pidfd_.get(), POLLIN, 0};
    const int n = ::poll(&item, 1, static_cast<int>(std::max(left, milliseconds(0)).count()));
    if (n >= 0) return n > 0;
    if (errno != EINTR) throw_errno("poll a pidfd");
  }
}

// Ends what is left of the group, then lets the kernel forget the leader: until that its number
// cannot be given to anybody else, so neither line can hit a stranger.
ExitStatus Process::reap() {
  siginfo_t info{};
  const auto await = [&](int options) {
    while (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, options) != 0)
      if (errno != EINTR) throw_errno(fmt::format("wait for process {}", pid_));
  };
  await(WEXITED | WNOWAIT);
  ::kill(-pid_, SIGKILL);
  guard::forget(pid_);
  await(WEXITED);
  status_ =
      info.si_code == CLD_EXITED ? ExitStatus{info.si_status, 0} : ExitStatus{0, info.si_status};
  return *status_;
}

Fd open_pidfd(pid_t pid) {
  // glibc 2.36 declares pidfd_open() without extern "C", so C++ cannot link to it.
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) throw_errno(fmt::format("pidfd_open {}", pid));
  return pidfd;
}

Output run(const Command& command, milliseconds within) {
  const Fd in = memory_file(command.input);
  const Fd out = memory_file("");
  const Fd err = memory_file("");
  Process process = Process::start(command, {in.get(), out.get(), err.get()});
  const auto status = process.wait(within);
  if (!status) {
    process.kill();
    throw FixtureError(fmt::format("{}: not finished after {} ms; it said: {}{}",
                                   fmt::join(command.argv, " "), within.count(), contents_of(out),
                                   contents_of(err)));
  }
  return Output{*status, contents_of(out), contents_of(err)};
}

std::string run_or_throw(const Command& command) {
  Output output = run(command);
  if (!output.ok())
    throw FixtureError(fmt::format("{}: {}: {}{}", fmt::join(command.argv, " "),
                                   output.status.text(), output.out, output.err));
  return std::move(output.out);
}

std::string log_tail(const std::filesystem::path& log, std::size_t lines) {
  std::ifstream file(log);
  std::deque<std::string> last;
  for (std::string line; std::getline(file, line);) {
    last.push_back(std::move(line));
    if (last.size() > lines) last.pop_front();
  }
  return fmt::format("{}:\n{}\n", log.string(), fmt::join(last, "\n"));
}

}  // namespace quorate::support

#include "rt/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>

#include "rt/exec.h"

namespace quorate::rt::detail {

namespace {

// What the child was doing when it failed.
enum class Stage : int { kSession, kStreams, kEnter, kIdentity, kDirectory, kExec };

struct Failure {
  Stage stage;
  int number;  // errno
};

// Everything that the child needs, made before the fork.
struct Plan {
  explicit Plan(const ProcessSpec& what)
      : exec(what.arguments, what.environment), spec(&what), parent(::getpid()) {}

  Exec exec;
  const char* directory = nullptr;
  const ProcessSpec* spec;
  Fd input;
  Fd output;  // empty: inherited
  Fd error;
  Fd report;
  int parent;
};

// ---- The child.

[[noreturn]] void give_up(const Plan& plan, Stage stage) {
  Failure failure{stage, errno};
  ssize_t told = ::write(plan.report.get(), &failure, sizeof failure);
  ::_exit(told < 0 ? 126 : 127);
}

void take_streams(const Plan& plan) {
  if (::dup2(plan.input.get(), 0) < 0) give_up(plan, Stage::kStreams);
  if (plan.output && ::dup2(plan.output.get(), 1) < 0) give_up(plan, Stage::kStreams);
  if (plan.error && ::dup2(plan.error.get(), 2) < 0) give_up(plan, Stage::kStreams);
}

void take_identity(const Plan& plan) {
  const auto& identity = plan.spec->run_as;
  if (!identity) return;
  const auto uid = static_cast<uid_t>(identity->uid);
  const auto gid = static_cast<gid_t>(identity->gid);
  if (::setgroups(0, nullptr) != 0 || ::setresgid(gid, gid, gid) != 0 ||
      ::setresuid(uid, uid, uid) != 0)
    give_up(plan, Stage::kIdentity);
}

[[noreturn]] void become(const Plan& plan) {
  reset_signals();
  if (::setsid() < 0) give_up(plan, Stage::kSession);
  take_streams(plan);
  for (const auto& space : plan.spec->enter)
    if (::setns(space.fd, space.kind) != 0) give_up(plan, Stage::kEnter);
  take_identity(plan);
  // After the identity, whose change would undo it. Who died before this call is noticed.
  if (plan.spec->dies_with_us) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent) ::_exit(125);
  }
  if (plan.directory && ::chdir(plan.directory) != 0) give_up(plan, Stage::kDirectory);
  plan.exec.become();
  give_up(plan, Stage::kExec);
}

// ---- The parent.

Result<Fd> open_above(const char* path, int flags) {
  Fd fd(::open(path, flags | O_CLOEXEC, 0640));
  if (!fd) return fail(errno_error(fmt::format("open {}", path), errno));
  return above_standard_streams(std::move(fd));
}

// The child's end; for Lines, ours goes to `ours`.
Result<Fd> open_output(const Output& output, Fd& ours) {
  if (std::holds_alternative<Inherit>(output)) return Fd();
  if (std::holds_alternative<Discard>(output)) return open_above("/dev/null", O_WRONLY);
  if (const auto* file = std::get_if<AppendTo>(&output))
    return open_above(file->path.c_str(), O_WRONLY | O_CREAT | O_APPEND);
  TRY(auto pipe, make_pipe());
  if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0)
    return fail(errno_error("make a pipe non-blocking", errno));
  ours = std::move(pipe.read);
  return std::move(pipe.write);
}

std::string_view describe(Stage stage) {
  switch (stage) {
    case Stage::kSession:
      return "start a session";
    case Stage::kStreams:
      return "set the standard streams";
    case Stage::kEnter:
      return "enter a namespace";
    case Stage::kIdentity:
      return "change user and group";
    case Stage::kDirectory:
      return "change to the working directory";
    case Stage::kExec:
      break;
  }
  return "execute";
}

void kill_and_reap(int pid) {
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Ends when the program runs (the pipe closes by itself then) or when the child says what failed.
Result<void> read_report(Fd report, int pid) {
  Failure failure{};
  ssize_t got = 0;
  do got = ::read(report.get(), &failure, sizeof failure);
  while (got < 0 && errno == EINTR);
  if (got == 0) return {};
  const int number = got < 0 ? errno : failure.number;
  kill_and_reap(pid);
  return fail(errno_error(got < 0 ? "read the child's report" : describe(failure.stage), number));
}

}  // namespace

Result<ChildProcess> fork_child(const ProcessSpec& spec) {
  Plan plan(spec);
  if (!spec.working_directory.empty()) plan.directory = spec.working_directory.c_str();

  ChildProcess child;
  TRY(plan.input, open_above("/dev/null", O_RDONLY));
  TRY(plan.output, open_output(spec.standard_output, child.standard_output));
  TRY(plan.error, open_output(spec.standard_error, child.standard_error));
  TRY(auto report, make_pipe());
  plan.report = std::move(report.write);

  child.pid = ::fork();
  if (child.pid < 0) return fail(errno_error("fork", errno));
  if (child.pid == 0) become(plan);
  plan.report.reset();
  TRY(read_report(std::move(report.read), child.pid));
  // It is not reaped before this, so the number is still its own.
  child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  if (child.pidfd) return child;
  const int number = errno;
  kill_and_reap(child.pid);
  return fail(errno_error("open a pidfd", number));
}

}  // namespace quorate::rt::detail

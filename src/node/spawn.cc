#include "node/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "base/check.h"
#include "base/strings.h"
#include "net/socket.h"
#include "node/refusal.h"

// glibc's sys/mount.h and the kernel's linux/mount.h cannot stand in one file; the flags come from
// the latter, and the calls are made directly.
extern "C" int mount(const char*, const char*, const char*, unsigned long, const void*) noexcept;
extern "C" int umount2(const char*, int) noexcept;

namespace quorate::node {
namespace {

constexpr int kDetach = 2;  // MNT_DETACH

// What the child was doing when something failed.
enum class Stage : int {
  kSession,
  kEnterProcesses,
  kEnterNetwork,
  kEnterUts,
  kEnterIpc,
  kEnterMounts,
  kMount,  // of the step `index`
  kOutput,
  kWorkingDir,
  kCapabilities,
  kExec,
};

struct Failure {
  Stage stage;
  int number;
  int index;
};

// Everything that the child needs, in memory that it does not have to allocate: between clone and
// exec it makes system calls and nothing else, since other threads may hold any lock.
struct Child {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::vector<std::string> candidates;  // where the program may be
  const char* working_dir = "/";
  int output = -1;
  int network = -1;
  int uts = -1;
  int ipc = -1;
  int processes = -1;  // a PID namespace to be born in; else a new one
  int mounts = -1;     // a mount namespace to join; else `root` is carried out
  const std::vector<MountStep>* root = nullptr;
  int go_read = -1;
  int go_write = -1;
  int report = -1;
  int born_write = -1;
};

[[noreturn]] void give_up(const Child& child, Stage stage, int index = 0) {
  Failure failure{stage, errno, index};
  auto told = ::write(child.report, &failure, sizeof failure);
  ::_exit(told < 0 ? 126 : 127);
}

int set_read_only(const char* path, bool recursive) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  unsigned flags = recursive ? 0x8000 /* AT_RECURSIVE */ : 0;
  return static_cast<int>(
      ::syscall(SYS_mount_setattr, AT_FDCWD, path, flags, &attributes, sizeof attributes));
}

int touch(const char* path) {
  int fd = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd >= 0) ::close(fd);
  return fd >= 0 || errno == EROFS || errno == ELOOP ? 0 : -1;
}

int make_directory(const char* path) {
  if (::mkdir(path, 0755) == 0 || errno == EEXIST) return 0;
  struct stat facts;
  int number = errno;
  int there = ::stat(path, &facts);
  errno = number;
  return there;
}

int pivot(const char* place) {
  if (::chdir(place) != 0) return -1;
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return -1;
  if (::umount2(".", kDetach) != 0) return -1;
  return ::chdir("/");
}

int carry_out(const MountStep& step) {
  const char* source = step.source.c_str();
  const char* target = step.target.c_str();
  switch (step.kind) {
    case MountStep::Kind::kTmpfs:
      return ::mount("tmpfs", target, "tmpfs", MS_NOSUID, source);
    case MountStep::Kind::kBind:
      return ::mount(source, target, nullptr, MS_BIND | MS_REC, nullptr);
    case MountStep::Kind::kProc:
      return ::mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
    case MountStep::Kind::kDirectory:
      return make_directory(target);
    case MountStep::Kind::kFile:
      return touch(target);
    case MountStep::Kind::kSymlink:
      return ::symlink(source, target);
    case MountStep::Kind::kReadOnly:
      return set_read_only(target, true);
    case MountStep::Kind::kReadOnlyOne:
      return set_read_only(target, false);
    case MountStep::Kind::kPivot:
      return pivot(target);
  }
  errno = EINVAL;
  return -1;
}

// Nothing is left of the privileges of the user namespace, and exec as uid 0 gives none back.
int drop_capabilities() {
  constexpr unsigned long kLocked =
      SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED;
  if (::prctl(PR_SET_SECUREBITS, kLocked) != 0) return -1;
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability) >= 0; ++capability)
    if (::prctl(PR_CAPBSET_DROP, capability) != 0) return -1;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return -1;
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(number, &action, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void join(const Child& child, int space, int kind, Stage stage) {
  if (space >= 0 && ::setns(space, kind) != 0) give_up(child, stage);
}

void take_standard_streams(const Child& child) {
  int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || ::dup2(null, 0) < 0) give_up(child, Stage::kOutput);
  int output = child.output >= 0 ? child.output : null;
  if (::dup2(output, 1) < 0 || ::dup2(output, 2) < 0) give_up(child, Stage::kOutput);
}

[[noreturn]] void live_as(const Child& child) {
  // Dies with the node. A node that died before this call is noticed by the pipe: `go` comes only
  // from a node that was alive after it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::close(child.go_write);
  char go = 0;
  while (::read(child.go_read, &go, 1) < 0 && errno == EINTR) {
  }
  if (go == 0) ::_exit(125);

  reset_signals();
  if (::setsid() < 0 && errno != EPERM) give_up(child, Stage::kSession);
  join(child, child.network, CLONE_NEWNET, Stage::kEnterNetwork);
  join(child, child.uts, CLONE_NEWUTS, Stage::kEnterUts);
  join(child, child.ipc, CLONE_NEWIPC, Stage::kEnterIpc);
  join(child, child.mounts, CLONE_NEWNS, Stage::kEnterMounts);
  if (child.root)
    for (std::size_t i = 0; i < child.root->size(); ++i)
      if (carry_out((*child.root)[i]) != 0) give_up(child, Stage::kMount, static_cast<int>(i));
  take_standard_streams(child);
  if (::chdir(child.working_dir) != 0) give_up(child, Stage::kWorkingDir);
  if (drop_capabilities() != 0) give_up(child, Stage::kCapabilities);
  ::close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  ::umask(022);
  errno = ENOENT;
  for (const auto& path : child.candidates) {
    ::execve(path.c_str(), child.arguments.data(), child.environment.data());
    if (errno != ENOENT && errno != ENOTDIR) break;
  }
  give_up(child, Stage::kExec);
}

// A PID namespace is joined by those who are born after: this process is only there to give birth,
// to a child of its own parent, and to tell the child's number.
[[noreturn]] void give_birth(const Child& child) {
  if (::setns(child.processes, CLONE_NEWPID) != 0) give_up(child, Stage::kEnterProcesses);
  clone_args arguments{};
  arguments.flags = CLONE_PARENT;
  auto pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) live_as(child);
  if (pid < 0) give_up(child, Stage::kEnterProcesses);
  int number = static_cast<int>(pid);
  ::_exit(::write(child.born_write, &number, sizeof number) < 0);
}

// --- the parent's side

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> candidates(const Program& program) {
  const auto& name = program.arguments.front();
  if (name.find('/') != std::string::npos) return {name};
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const auto& variable : program.environment)
    if (variable.starts_with("PATH=")) path = std::string_view(variable).substr(5);
  std::vector<std::string> out;
  for (auto folder : split(path, ':')) out.push_back(fmt::format("{}/{}", folder, name));
  return out;
}

struct Pipe {
  rt::Fd read;
  rt::Fd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(errno_error("pipe", errno));
  return Pipe{rt::Fd(ends[0]), rt::Fd(ends[1])};
}

std::string call_of(const Failure& failure, const std::vector<MountStep>& root) {
  switch (failure.stage) {
    case Stage::kSession:
      return "setsid()";
    case Stage::kEnterProcesses:
      return "setns(CLONE_NEWPID)";
    case Stage::kEnterNetwork:
      return "setns(CLONE_NEWNET)";
    case Stage::kEnterUts:
      return "setns(CLONE_NEWUTS)";
    case Stage::kEnterIpc:
      return "setns(CLONE_NEWIPC)";
    case Stage::kEnterMounts:
      return "setns(CLONE_NEWNS)";
    case Stage::kMount:
      return static_cast<std::size_t>(failure.index) < root.size()
                 ? describe(root[static_cast<std::size_t>(failure.index)])
                 : "mount";
    case Stage::kOutput:
      return "open(/dev/null)";
    case Stage::kWorkingDir:
      return "chdir to the working directory";
    case Stage::kCapabilities:
      return "drop capabilities";
    case Stage::kExec:
      return "exec";
  }
  return "?";
}

Error to_error(const Failure& failure, const std::vector<MountStep>& root) {
  auto call = call_of(failure, root);
  bool plain = failure.stage == Stage::kExec || failure.stage == Stage::kWorkingDir ||
               failure.number == ENOENT;
  if (plain) return errno_error(call, failure.number);
  return explain_refusal(NamespaceSettings::of_this_machine(), call, failure.number);
}

// P_PIDFD is 3; older headers have no name for it.
Result<ProcessEnd> reap_pidfd(int pidfd) {
  siginfo_t facts{};
  while (::waitid(static_cast<idtype_t>(3), static_cast<id_t>(pidfd), &facts, WEXITED) != 0)
    if (errno != EINTR) return fail(errno_error("waitid", errno));
  if (facts.si_code == CLD_EXITED) return ProcessEnd{facts.si_status, 0};
  return ProcessEnd{128 + facts.si_status, facts.si_status};
}

struct Born {
  int pid = 0;
  rt::Fd pidfd;
};

// `body` is what the new process does.
Result<Born> clone_process(const Child& child, std::uint64_t flags, void (*body)(const Child&)) {
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = flags | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  auto pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) body(child);
  if (pid < 0) return fail(explain_refusal(NamespaceSettings::of_this_machine(), "clone3", errno));
  return Born{static_cast<int>(pid), rt::Fd(pidfd)};
}

Result<Born> clone_into_namespace(Child& child) {
  TRY(auto born, make_pipe());
  child.born_write = born.write.get();
  TRY(auto midwife, clone_process(child, 0, give_birth));
  born.write.reset();
  int pid = 0;
  auto told = ::read(born.read.get(), &pid, sizeof pid);
  TRY(reap_pidfd(midwife.pidfd.get()));
  if (told != static_cast<ssize_t>(sizeof pid))
    return fail(Code::kUnavailable, "no process was born");
  rt::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) return fail(errno_error("pidfd_open", errno));
  return Born{pid, std::move(pidfd)};
}

Result<Spawned> start(Child& child, const Program& program) {
  CHECK(!program.arguments.empty());
  TRY(auto go, make_pipe());
  TRY(auto report, make_pipe());
  child.arguments = pointers(program.arguments);
  child.environment = pointers(program.environment);
  child.candidates = candidates(program);
  child.working_dir = program.working_dir.c_str();
  child.output = program.output;
  child.go_read = go.read.get();
  child.go_write = go.write.get();
  child.report = report.write.get();
  auto born = child.processes >= 0 ? clone_into_namespace(child)
                                   : clone_process(child, CLONE_NEWPID | CLONE_NEWNS, live_as);
  report.write.reset();
  if (!born) {
    Failure failure{};
    if (::read(report.read.get(), &failure, sizeof failure) == static_cast<ssize_t>(sizeof failure))
      return fail(to_error(failure, {}));
    return fail(std::move(born).error());
  }
  Spawned spawned{born->pid, std::move(born->pidfd), std::move(report.read)};
  if (::write(go.write.get(), "g", 1) != 1) return fail(errno_error("write", errno));
  ::fcntl(spawned.report.get(), F_SETFL, O_NONBLOCK);
  return spawned;
}

}  // namespace

Result<Spawned> spawn_container(const Program& program, const PodSpaces& pod,
                                const std::vector<MountStep>& root) {
  Child child;
  child.network = pod.network.get();
  child.uts = pod.uts.get();
  child.ipc = pod.ipc.get();
  child.root = &root;
  return start(child, program);
}

Result<Spawned> spawn_in_container(const Program& program, int container_pid) {
  TRY(auto network, open_space_of(container_pid, "net"));
  TRY(auto uts, open_space_of(container_pid, "uts"));
  TRY(auto ipc, open_space_of(container_pid, "ipc"));
  TRY(auto mounts, open_space_of(container_pid, "mnt"));
  TRY(auto processes, open_space_of(container_pid, "pid"));
  Child child;
  child.processes = processes.get();
  child.network = network.get();
  child.uts = uts.get();
  child.ipc = ipc.get();
  child.mounts = mounts.get();
  return start(child, program);
}

Task<Result<void>> wait_until_running(rt::Runtime runtime, Spawned& spawned,
                                      std::vector<MountStep> root, rt::Deadline deadline) {
  net::Socket report(runtime, spawned.report.release());
  while (true) {
    Failure failure{};
    auto got = ::read(report.fd(), &failure, sizeof failure);
    if (got == 0) co_return Result<void>();
    if (got == static_cast<ssize_t>(sizeof failure)) co_return fail(to_error(failure, root));
    if (got > 0) co_return fail(Code::kInternal, "a broken report of a new process");
    if (errno != EAGAIN && errno != EINTR) co_return fail(errno_error("read", errno));
    CO_TRY(co_await report.wait(net::Socket::Direction::kRead, deadline));
  }
}

Result<ProcessEnd> reap(const Spawned& spawned) { return reap_pidfd(spawned.pidfd.get()); }

}  // namespace quorate::node

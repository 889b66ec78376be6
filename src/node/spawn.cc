#include "node/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "net/socket.h"
#include "node/refusal.h"
#include "rt/exec.h"

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
  kTerminal,
  kWorkingDir,
  kCapabilities,
  kExec,
};

struct Failure {
  Stage stage;
  int number;
  int index;
};

// Everything that the new process needs, made before it: see rt/exec.h.
struct Plan {
  explicit Plan(const Program& program)
      : exec(program.arguments, program.environment),
        working_dir(program.working_dir.c_str()),
        input(program.input),
        output(program.output),
        errors(program.errors >= 0 ? program.errors : program.output),
        terminal(program.terminal) {}

  rt::Exec exec;
  const char* working_dir;
  int input;
  int output;
  int errors;
  bool terminal;
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

[[noreturn]] void give_up(const Plan& plan, Stage stage, int index = 0) {
  Failure failure{stage, errno, index};
  auto told = ::write(plan.report, &failure, sizeof failure);
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

void join(const Plan& plan, int space, int kind, Stage stage) {
  if (space >= 0 && ::setns(space, kind) != 0) give_up(plan, stage);
}

void take_standard_streams(const Plan& plan) {
  int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) give_up(plan, Stage::kOutput);
  const int streams[] = {plan.input, plan.output, plan.errors};
  for (int standard = 0; standard < 3; ++standard)
    if (::dup2(streams[standard] >= 0 ? streams[standard] : null, standard) < 0)
      give_up(plan, Stage::kOutput);
}

[[noreturn]] void live_as(const Plan& plan) {
  // Dies with the node. A node that died before this call is noticed by the pipe: `go` comes only
  // from a node that was alive after it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::close(plan.go_write);
  char go = 0;
  while (::read(plan.go_read, &go, 1) < 0 && errno == EINTR) {
  }
  if (go == 0) ::_exit(125);

  rt::reset_signals();
  if (::setsid() < 0 && errno != EPERM) give_up(plan, Stage::kSession);
  join(plan, plan.network, CLONE_NEWNET, Stage::kEnterNetwork);
  join(plan, plan.uts, CLONE_NEWUTS, Stage::kEnterUts);
  join(plan, plan.ipc, CLONE_NEWIPC, Stage::kEnterIpc);
  join(plan, plan.mounts, CLONE_NEWNS, Stage::kEnterMounts);
  if (plan.root)
    for (std::size_t i = 0; i < plan.root->size(); ++i)
      if (carry_out((*plan.root)[i]) != 0) give_up(plan, Stage::kMount, static_cast<int>(i));
  take_standard_streams(plan);
  if (plan.terminal && ::ioctl(STDIN_FILENO, TIOCSCTTY, 0) != 0) give_up(plan, Stage::kTerminal);
  if (::chdir(plan.working_dir) != 0) give_up(plan, Stage::kWorkingDir);
  if (drop_capabilities() != 0) give_up(plan, Stage::kCapabilities);
  ::umask(022);
  plan.exec.become();
  give_up(plan, Stage::kExec);
}

// A PID namespace is joined by those who are born after: this process is only there to give birth,
// to a child of its own parent, and to tell the child's number.
[[noreturn]] void give_birth(const Plan& plan) {
  if (::setns(plan.processes, CLONE_NEWPID) != 0) give_up(plan, Stage::kEnterProcesses);
  clone_args arguments{};
  arguments.flags = CLONE_PARENT;
  auto pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) live_as(plan);
  if (pid < 0) give_up(plan, Stage::kEnterProcesses);
  int number = static_cast<int>(pid);
  ::_exit(::write(plan.born_write, &number, sizeof number) < 0);
}

// --- the parent's side

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
    case Stage::kTerminal:
      return "ioctl(TIOCSCTTY)";
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

struct Born {
  int pid = 0;
  rt::Fd pidfd;
};

// `body` is what the new process does.
Result<Born> clone_process(const Plan& plan, std::uint64_t flags, void (*body)(const Plan&)) {
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = flags | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  auto pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) body(plan);
  if (pid < 0) return fail(explain_refusal(NamespaceSettings::of_this_machine(), "clone3", errno));
  return Born{static_cast<int>(pid), rt::Fd(pidfd)};
}

Result<Born> clone_into_namespace(Plan& plan) {
  TRY(auto born, rt::make_pipe());
  plan.born_write = born.write.get();
  TRY(auto midwife, clone_process(plan, 0, give_birth));
  born.write.reset();
  int pid = 0;
  auto told = ::read(born.read.get(), &pid, sizeof pid);
  while (::waitpid(midwife.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (told != static_cast<ssize_t>(sizeof pid))
    return fail(Code::kUnavailable, "no process was born");
  rt::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) return fail(errno_error("pidfd_open", errno));
  return Born{pid, std::move(pidfd)};
}

Result<Spawned> start(rt::Runtime runtime, Plan& plan) {
  TRY(auto go, rt::make_pipe());
  TRY(auto report, rt::make_pipe());
  plan.go_read = go.read.get();
  plan.go_write = go.write.get();
  plan.report = report.write.get();
  auto born = plan.processes >= 0 ? clone_into_namespace(plan)
                                  : clone_process(plan, CLONE_NEWPID | CLONE_NEWNS, live_as);
  report.write.reset();
  if (!born) {
    Failure failure{};
    if (::read(report.read.get(), &failure, sizeof failure) == static_cast<ssize_t>(sizeof failure))
      return fail(to_error(failure, {}));
    return fail(std::move(born).error());
  }
  Spawned spawned{rt::Child(std::move(runtime), born->pid, std::move(born->pidfd)),
                  std::move(report.read)};
  if (::write(go.write.get(), "g", 1) != 1) return fail(errno_error("write", errno));
  ::fcntl(spawned.report.get(), F_SETFL, O_NONBLOCK);
  return spawned;
}

}  // namespace

Result<Spawned> spawn_container(rt::Runtime runtime, const Program& program, const PodSpaces& pod,
                                const std::vector<MountStep>& root) {
  Plan plan(program);
  plan.network = pod.network.get();
  plan.uts = pod.uts.get();
  plan.ipc = pod.ipc.get();
  plan.root = &root;
  return start(std::move(runtime), plan);
}

Result<Spawned> spawn_in_container(rt::Runtime runtime, const Program& program, int container_pid) {
  TRY(auto network, open_space_of(container_pid, "net"));
  TRY(auto uts, open_space_of(container_pid, "uts"));
  TRY(auto ipc, open_space_of(container_pid, "ipc"));
  TRY(auto mounts, open_space_of(container_pid, "mnt"));
  TRY(auto processes, open_space_of(container_pid, "pid"));
  Plan plan(program);
  plan.processes = processes.get();
  plan.network = network.get();
  plan.uts = uts.get();
  plan.ipc = ipc.get();
  plan.mounts = mounts.get();
  return start(std::move(runtime), plan);
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

}  // namespace quorate::node

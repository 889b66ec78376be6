#include "node/fabric.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <filesystem>

#include "base/check.h"
#include "node/namespaces.h"
#include "node/netlink.h"
#include "node/refusal.h"
#include "node/services.h"
#include "node/small_file.h"
#include "rt/exec.h"

namespace quorate::node {
namespace {

std::string state_file(const std::string& directory) { return directory + "/fabric"; }
std::string resolver_file(const std::string& directory) { return directory + "/resolv.conf"; }

// A failed step of the holder: the call and its errno, explained by the parent.
struct Refused {
  std::string call;
  int number = 0;
};
using Step = tl::expected<void, Refused>;

tl::unexpected<Refused> refused(std::string call, int number = errno) {
  return tl::unexpected<Refused>({std::move(call), number});
}

Step write_map(const char* path, const std::string& text) {
  rt::Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  if (!fd) return refused(fmt::format("open {}", path));
  if (::write(fd.get(), text.data(), text.size()) < 0)
    return refused(fmt::format("write {}", path));
  return {};
}

// The caller becomes uid 0 of a new user namespace: the one mapping that everybody may make.
Step become_root_inside() {
  auto uid = ::geteuid();
  auto gid = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) return refused("unshare(CLONE_NEWUSER)");
  if (auto done = write_map("/proc/self/setgroups", "deny"); !done) return done;
  if (auto done = write_map("/proc/self/uid_map", fmt::format("0 {} 1", uid)); !done) return done;
  return write_map("/proc/self/gid_map", fmt::format("0 {} 1", gid));
}

Result<void> lay_wires() {
  TRY(auto netlink, Netlink::open());
  TRY(netlink.set_up("lo"));
  TRY(netlink.add_bridge(fabric_links::kBridge));
  // A cable that leads nowhere: a bridge sends only while it has a port.
  TRY(auto here, open_space_of(::getpid(), "net"));
  TRY(netlink.add_veth("anchor", {"anchor-end", here.get(), mac_of(Ipv4(198, 18, 0, 0))}));
  TRY(netlink.set_up("anchor-end"));
  TRY(netlink.set_master("anchor", fabric_links::kBridge));
  TRY(netlink.set_up("anchor"));
  TRY(netlink.add_address(fabric_links::kBridge, {layout::kFabric, layout::kPods.prefix}));
  TRY(netlink.set_up(fabric_links::kBridge));
  return netlink.add_local_route(layout::kServices);
}

Result<void> write_resolver(const std::string& file) {
  return write_small_file(file,
                          fmt::format("search svc.{0} {0}\nnameserver {1}\noptions ndots:5\n",
                                      kClusterDomain, layout::kFabric.text()),
                          0644);
}

// Whoever asks for a name inside asks the fabric's DNS. A machine without this file has no resolver
// that could be told.
Step cover_resolver(const std::string& file) {
  constexpr const char* kCovered = "/etc/resolv.conf";
  if (::mount(file.c_str(), kCovered, nullptr, MS_BIND, nullptr) != 0 && errno != ENOENT)
    return refused(fmt::format("mount(\"{}\", MS_BIND)", kCovered));
  return {};
}

Step make_namespaces(const std::string& directory) {
  if (auto done = become_root_inside(); !done) return done;
  if (::unshare(CLONE_NEWNET) != 0) return refused("unshare(CLONE_NEWNET)");
  if (::unshare(CLONE_NEWNS) != 0) return refused("unshare(CLONE_NEWNS)");
  // Pods have their own of these two; whoever makes them has to be able to come back.
  if (::unshare(CLONE_NEWUTS) != 0) return refused("unshare(CLONE_NEWUTS)");
  if (::unshare(CLONE_NEWIPC) != 0) return refused("unshare(CLONE_NEWIPC)");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return refused("mount(\"/\", MS_REC | MS_PRIVATE)");
  if (auto done = cover_resolver(resolver_file(directory)); !done) return done;
  if (auto done = lay_wires(); !done) {
    const auto& error = done.error();
    auto call = error.text();
    call.resize(call.size() - std::min(call.size(), error.message().size() + 2));
    return refused(std::move(call), error.status().value_or(EIO));
  }
  return {};
}

// The holder's whole life. Says nothing on `report` but why it could not; then closes it.
[[noreturn]] void hold(rt::Fd report, const Fabric::Options& options, int maker) {
  // Others of the same user enter by /proc/PID/ns, which the kernel allows only if this process is
  // "dumpable"; one whose maker changed its user id is not.
  ::prctl(PR_SET_DUMPABLE, 1);
  ::prctl(PR_SET_NAME, "quorate-fabric");
  if (!options.outlives_maker) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != maker) ::_exit(1);
  }
  if (auto made = make_namespaces(options.directory); !made) {
    auto text = fmt::format("{} {}", made.error().number, made.error().call);
    auto told = ::write(report.get(), text.data(), text.size());
    ::_exit(told < 0 ? 2 : 1);
  }
  rt::Fd null(::open("/dev/null", O_RDWR));
  for (int standard = 0; standard < 3; ++standard) ::dup2(null.get(), standard);
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGINT, SIG_IGN);  // a Ctrl-C on the maker's terminal is for the maker to act on
  if (options.outlives_maker) ::setsid();
  // Everything else that was open is the maker's, `report` included: closing it says "ready".
  ::close_range(3, UINT_MAX, 0);
  while (true) ::pause();
}

std::string read_to_end(int fd) {
  std::string text;
  char buffer[512];
  while (true) {
    auto got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

Result<void> join_space(int fd, int kind, const char* call) {
  if (::setns(fd, kind) == 0) return {};
  return fail(explain_refusal(NamespaceSettings::of_this_machine(), call, errno));
}

// Entering one's own user namespace is an error to the kernel, and no work to us.
Result<bool> is_own(int fd, const char* kind) {
  struct stat theirs {};
  struct stat ours {};
  auto own = fmt::format("/proc/self/ns/{}", kind);
  if (::fstat(fd, &theirs) != 0 || ::stat(own.c_str(), &ours) != 0)
    return fail(errno_error("stat " + own, errno));
  return theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev;
}

}  // namespace

Result<Fabric> Fabric::make(const Options& options) {
  TRY(in("make the fabric", write_resolver(resolver_file(options.directory))));
  TRY(auto pipe, rt::make_pipe());
  int maker = ::getpid();
  int pid = ::fork();
  if (pid < 0) return fail(errno_error("fork", errno));
  if (pid == 0) hold(std::move(pipe.write), options, maker);
  pipe.write.reset();
  auto told = read_to_end(pipe.read.get());
  if (!told.empty()) {
    ::waitpid(pid, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove(resolver_file(options.directory), ignored);
    char* rest = nullptr;
    auto number = static_cast<int>(std::strtol(told.c_str(), &rest, 10));
    return fail(explain_refusal(NamespaceSettings::of_this_machine(), rest + 1, number)
                    .in("make the fabric"));
  }
  auto holder = ProcessId::of(pid);
  if (!holder || !holder->runs())
    return fail(Code::kUnavailable, "make the fabric: its holder ended at once");
  Fabric fabric(options.directory, *holder);
  if (auto kept = write_small_file(state_file(options.directory), holder->text() + "\n"); !kept) {
    fabric.end();
    return fail(kept.error().in("make the fabric"));
  }
  return fabric;
}

Result<Fabric> Fabric::find(const std::string& directory) {
  TRY(auto text, in("find the fabric", read_small_file(state_file(directory))));
  auto holder = ProcessId::parse(text);
  if (!holder)
    return fail(Code::kCorrupt, fmt::format("{} names no process", state_file(directory)));
  if (!holder->runs())
    return fail(Code::kNotFound,
                fmt::format("the fabric of {} is not running (its holder was process {})",
                            directory, holder->pid));
  return Fabric(directory, *holder);
}

Result<void> Fabric::enter() const {
  struct Space {
    const char* kind;
    int flag;
    const char* call;
    rt::Fd fd;
  };
  // The user namespace first: it gives the right to enter the others.
  std::array<Space, 5> spaces = {{{"user", CLONE_NEWUSER, "setns(CLONE_NEWUSER)", rt::Fd()},
                                  {"net", CLONE_NEWNET, "setns(CLONE_NEWNET)", rt::Fd()},
                                  {"uts", CLONE_NEWUTS, "setns(CLONE_NEWUTS)", rt::Fd()},
                                  {"ipc", CLONE_NEWIPC, "setns(CLONE_NEWIPC)", rt::Fd()},
                                  {"mnt", CLONE_NEWNS, "setns(CLONE_NEWNS)", rt::Fd()}}};
  for (auto& space : spaces) {
    TRY(space.fd, in("enter the fabric", open_space_of(holder_.pid, space.kind)));
  }
  if (!holder_.runs()) return fail(Code::kNotFound, "enter the fabric: its holder has ended");
  std::error_code ignored;
  auto here = std::filesystem::current_path(ignored);
  for (const auto& space : spaces) {
    TRY(auto inside_already, is_own(space.fd.get(), space.kind));
    if (!inside_already) TRY(join_space(space.fd.get(), space.flag, space.call));
  }
  if (!here.empty()) std::filesystem::current_path(here, ignored);
  return {};
}

void Fabric::end() {
  holder_.signal(SIGKILL);
  ::waitpid(holder_.pid, nullptr, 0);  // reaps it if it is a child of ours
  std::error_code ignored;
  for (const auto& file : {state_file(directory_), resolver_file(directory_)})
    std::filesystem::remove(file, ignored);
}

}  // namespace quorate::node

#include "tests/support/guard.h"

#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include "tests/support/fd.h"
#include "tests/support/fixture_error.h"

namespace quorate::support::guard {
namespace {

constexpr std::size_t kMostGroups = 1024;

// What the guard knows. No heap: it is forked from a program that may have threads.
struct Groups {
  std::array<pid_t, kMostGroups> ids{};
  std::size_t count = 0;

  void add(pid_t group) {
    if (count < ids.size()) ids[count++] = group;
  }
  void drop(pid_t group) {
    for (std::size_t i = 0; i < count; ++i)
      if (ids[i] == group) ids[i--] = ids[--count];
  }
  void kill_all() const {
    for (std::size_t i = 0; i < count; ++i) ::kill(-ids[i], SIGKILL);
  }
};

// The guard's whole life. A message is a process group: positive to watch, negative to forget.
[[noreturn]] void stand_guard(int socket) {
  ::setsid();
  ::prctl(PR_SET_NAME, "quorate-guard");
  for (int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) ::signal(number, SIG_IGN);
  ::dup2(socket, 0);
  ::close_range(1, ~0U, 0);

  Groups groups;
  while (true) {
    pid_t message = 0;
    const ssize_t size = ::recv(0, &message, sizeof message, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size != sizeof message) break;
    if (message > 0)
      groups.add(message);
    else
      groups.drop(-message);
  }
  groups.kill_all();
  ::_exit(0);
}

// Forks twice, so that the guard's parent is not the program.
Fd start_guard() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw_errno("socketpair for the guard");
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const pid_t between = ::fork();
  if (between < 0) throw_errno("fork the guard");
  if (between == 0) {
    const pid_t guard = ::fork();
    if (guard == 0) stand_guard(theirs.get());
    ::_exit(guard < 0 ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(between, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) throw FixtureError("fork the guard: the second fork failed");
  return ours;
}

struct Connection {
  pid_t owner = 0;
  Fd socket;
};

Connection& connection() {
  static Connection instance;
  return instance;
}

bool send(int socket, pid_t message) {
  return ::send(socket, &message, sizeof message, MSG_NOSIGNAL) == sizeof message;
}

}  // namespace

int socket() {
  Connection& here = connection();
  if (here.owner != ::getpid()) {
    here.socket = start_guard();
    here.owner = ::getpid();
  }
  return here.socket.get();
}

bool watch(int socket, pid_t group) { return send(socket, group); }

void forget(pid_t group) { send(socket(), -group); }

}  // namespace quorate::support::guard

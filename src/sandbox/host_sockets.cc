#include "sandbox/host_sockets.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "node/relay.h"

namespace quorate::sandbox {
namespace {

// A question is a port. The answer is this, with the listener beside it if `number` is 0.
struct Answer {
  int number = 0;  // errno
};

// Room for one descriptor beside a message.
union Beside {
  cmsghdr head;
  char bytes[CMSG_SPACE(sizeof(int))];
};

msghdr message_of(iovec& text, Beside& beside) {
  msghdr out{};
  out.msg_iov = &text;
  out.msg_iovlen = 1;
  out.msg_control = beside.bytes;
  out.msg_controllen = sizeof beside.bytes;
  return out;
}

void answer(int channel, std::uint16_t port) {
  auto listener = node::listen_at({*node::Ipv4::parse("127.0.0.1"), port});
  Answer said;
  if (!listener) said.number = listener.error().status().value_or(EIO);
  Beside beside{};
  iovec text{&said, sizeof said};
  auto message = message_of(text, beside);
  if (listener) {
    auto* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = listener->get();
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  } else {
    message.msg_control = nullptr;
    message.msg_controllen = 0;
  }
  if (::sendmsg(channel, &message, MSG_NOSIGNAL) < 0) ::_exit(1);
}

// The whole life of the process outside.
[[noreturn]] void stay_outside(int channel, int maker) {
  ::prctl(PR_SET_NAME, "quorate-reach");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != maker) ::_exit(1);
  ::signal(SIGINT, SIG_IGN);  // a Ctrl-C on the maker's terminal is for the maker to act on
  // Nothing that the maker holds open lives on here.
  ::dup2(channel, STDIN_FILENO);
  ::close_range(STDERR_FILENO + 1, UINT_MAX, 0);
  for (;;) {
    std::uint16_t port = 0;
    const auto got = ::recv(STDIN_FILENO, &port, sizeof port, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof port)) ::_exit(0);  // the maker has gone
    answer(STDIN_FILENO, port);
  }
}

}  // namespace

Result<HostSockets> HostSockets::make() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(errno_error("socketpair", errno));
  rt::Fd inside(pair[0]);
  rt::Fd outside(pair[1]);
  const int maker = ::getpid();
  const int pid = ::fork();
  if (pid < 0) return fail(errno_error("fork", errno));
  if (pid == 0) stay_outside(outside.get(), maker);
  return HostSockets(std::move(inside));
}

Result<rt::Fd> HostSockets::listen(std::uint16_t port) {
  const auto operation = fmt::format("listen at port {} of the host's loopback", port);
  if (::send(channel_.get(), &port, sizeof port, MSG_NOSIGNAL) < 0)
    return fail(errno_error(operation, errno));
  Answer said;
  Beside beside{};
  iovec text{&said, sizeof said};
  auto message = message_of(text, beside);
  ssize_t got = 0;
  do {
    got = ::recvmsg(channel_.get(), &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return fail(errno_error(operation, errno));
  if (got != static_cast<ssize_t>(sizeof said))
    return fail(Error(Code::kUnavailable, "the process outside has ended").in(operation));
  if (said.number == EADDRINUSE)
    return fail(errno_error(operation, said.number).as(Code::kConflict));
  if (said.number != 0) return fail(errno_error(operation, said.number));
  const auto* head = CMSG_FIRSTHDR(&message);
  if (!head || head->cmsg_type != SCM_RIGHTS)
    return fail(Error(Code::kInternal, "no listener came").in(operation));
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
  return rt::Fd(fd);
}

}  // namespace quorate::sandbox

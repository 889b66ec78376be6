#include "tests/support/socket_owner.h"

#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>

#include "tests/support/fixture_error.h"

namespace quorate::support {
namespace {

namespace fs = std::filesystem;

struct Question {
  nlmsghdr header;
  inet_diag_req_v2 socket;
};

Question question_about(const sockaddr_in& local, const sockaddr_in& remote) {
  Question question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.socket.sdiag_family = AF_INET;
  question.socket.sdiag_protocol = IPPROTO_TCP;
  question.socket.idiag_states = ~0U;
  question.socket.id.idiag_sport = local.sin_port;
  question.socket.id.idiag_dport = remote.sin_port;
  question.socket.id.idiag_src[0] = local.sin_addr.s_addr;
  question.socket.id.idiag_dst[0] = remote.sin_addr.s_addr;
  question.socket.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  question.socket.id.idiag_cookie[1] = static_cast<std::uint32_t>(INET_DIAG_NOCOOKIE);
  return question;
}

// Of the socket that is bound to `local` and connected to `remote`; absent when there is none.
std::optional<std::uint32_t> inode_of(const sockaddr_in& local, const sockaddr_in& remote) {
  const Fd kernel(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!kernel) throw_errno("ask the kernel about sockets");
  const Question question = question_about(local, remote);
  if (::send(kernel.get(), &question, sizeof question, 0) < 0) throw_errno("ask about a socket");
  std::array<char, 4096> answer{};
  const ssize_t size = ::recv(kernel.get(), answer.data(), answer.size(), 0);
  if (size < static_cast<ssize_t>(sizeof(nlmsghdr))) throw_errno("hear about a socket");
  nlmsghdr header{};
  std::memcpy(&header, answer.data(), sizeof header);
  if (header.nlmsg_type == NLMSG_ERROR) {
    nlmsgerr error{};
    std::memcpy(&error, answer.data() + NLMSG_HDRLEN, sizeof error);
    if (error.error == -ENOENT) return std::nullopt;
    throw FixtureError(fmt::format("ask about a socket: {}", std::strerror(-error.error)));
  }
  inet_diag_msg found{};
  std::memcpy(&found, answer.data() + NLMSG_HDRLEN, sizeof found);
  // One that nobody holds any more has none.
  return found.idiag_inode ? std::optional(found.idiag_inode) : std::nullopt;
}

}  // namespace

std::set<std::string> sockets_of(pid_t process) {
  std::set<std::string> inodes;
  std::error_code gone;
  for (fs::directory_iterator it(fmt::format("/proc/{}/fd", process), gone), end;
       !gone && it != end; it.increment(gone)) {
    std::error_code closed;
    const std::string target = fs::read_symlink(it->path(), closed).string();
    if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
  }
  return inodes;
}

bool comes_from(const Fd& connection, const std::vector<pid_t>& processes) {
  sockaddr_in here{}, there{};
  socklen_t size = sizeof here;
  if (::getsockname(connection.get(), reinterpret_cast<sockaddr*>(&here), &size) != 0) return false;
  size = sizeof there;
  if (::getpeername(connection.get(), reinterpret_cast<sockaddr*>(&there), &size) != 0)
    return false;
  const auto inode = inode_of(there, here);
  if (!inode) return false;
  return std::ranges::any_of(processes, [socket = std::to_string(*inode)](pid_t process) {
    return sockets_of(process).contains(socket);
  });
}

}  // namespace quorate::support

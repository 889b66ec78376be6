#include "tests/support/ports.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/support/fixture_error.h"
#include "tests/support/socket_owner.h"

namespace quorate::support {
namespace {

// The ports that are handed out; the kernel's own range begins at 32768.
constexpr int kFirstPort = 10000;
constexpr int kLastPort = 29999;

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

bool is_free(const Endpoint& endpoint) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) throw_errno("socket");
  const sockaddr_in address = endpoint.address();
  return ::bind(socket.get(), generic(address), sizeof address) == 0;
}

// Waits until a connect that was begun has an outcome: errno's value, 0 for connected.
int await_connect(const Fd& socket, std::chrono::milliseconds within) {
  pollfd item{socket.get(), POLLOUT, 0};
  const int n = ::poll(&item, 1, static_cast<int>(within.count()));
  if (n < 0) return errno;
  if (n == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

std::string Endpoint::text() const { return fmt::format("{}:{}", host, port); }

sockaddr_in Endpoint::address() const {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &result.sin_addr) != 1)
    throw FixtureError("not an IPv4 address: " + host);
  return result;
}

std::string own_address() {
  const auto pid = static_cast<unsigned>(::getpid());  // the kernel gives at most 22 bits
  return fmt::format("127.{}.{}.{}", 64 + (pid >> 16), (pid >> 8) & 255, pid & 255);
}

Endpoint free_endpoint() {
  static int next = kFirstPort;
  while (next <= kLastPort) {
    Endpoint endpoint{own_address(), static_cast<std::uint16_t>(next++)};
    if (is_free(endpoint)) return endpoint;
  }
  throw FixtureError("no free port on " + own_address());
}

Fd connect_to(const Endpoint& endpoint, std::chrono::milliseconds within) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw_errno("socket");
  const sockaddr_in address = endpoint.address();
  int error = 0;
  if (::connect(socket.get(), generic(address), sizeof address) != 0)
    error = errno == EINPROGRESS ? await_connect(socket, within) : errno;
  if (error != 0) throw_errno("connect to " + endpoint.text(), error);
  return socket;
}

std::optional<std::uint16_t> listening_port(pid_t pid) {
  const std::set<std::string> ours = sockets_of(pid);
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);  // the headings
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string slot, local, remote, state, queues, timer, retries, uid, timeout, inode;
      words >> slot >> local >> remote >> state >> queues >> timer >> retries >> uid >> timeout >>
          inode;
      constexpr const char* kListening = "0A";
      if (state == kListening && ours.contains(inode))
        return static_cast<std::uint16_t>(
            std::stoul(local.substr(local.rfind(':') + 1), nullptr, 16));
    }
  }
  return std::nullopt;
}

}  // namespace quorate::support

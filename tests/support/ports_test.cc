#include "tests/support/ports.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "tests/support/fixture_error.h"

namespace quorate::support {
namespace {

Fd bound(const Endpoint& endpoint) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = endpoint.address();
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw_errno("bind " + endpoint.text());
  return socket;
}

TEST(Ports, AreDistinctAndCanBeBound) {
  std::set<std::uint16_t> seen;
  std::vector<Fd> sockets;
  for (int i = 0; i < 200; ++i) {
    const Endpoint endpoint = free_endpoint();
    EXPECT_TRUE(seen.insert(endpoint.port).second) << endpoint.text();
    sockets.push_back(bound(endpoint));
  }
}

TEST(Ports, SkipWhatSomebodyListensOn) {
  const Endpoint first = free_endpoint();
  const Endpoint next{first.host, static_cast<std::uint16_t>(first.port + 1)};
  const Fd taken = bound(next);
  EXPECT_NE(free_endpoint(), next);
}

TEST(Ports, BelongToAnAddressOfThisProgramAlone) {
  const std::string ours = own_address();
  EXPECT_TRUE(ours.starts_with("127."));
  const pid_t other = ::fork();
  if (other == 0) ::_exit(own_address() == ours ? 1 : 0);
  int status = 0;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

TEST(Ports, TellWhatAProcessListensOn) {
  const Endpoint endpoint = free_endpoint();
  const Fd socket = bound(endpoint);
  EXPECT_EQ(listening_port(::getpid()), std::nullopt);
  ASSERT_EQ(::listen(socket.get(), 1), 0);
  EXPECT_EQ(listening_port(::getpid()), endpoint.port);
}

TEST(Ports, RefuseAConnectionThatNobodyWaitsFor) {
  EXPECT_THROW(connect_to(free_endpoint()), FixtureError);
}

}  // namespace
}  // namespace quorate::support

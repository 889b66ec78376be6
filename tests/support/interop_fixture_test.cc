#include "tests/support/interop_fixture.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

namespace quorate::support {
namespace {

// The first frame of an HTTP/2 server is SETTINGS: its type is the fourth byte.
TEST(InteropServer, SpeaksHttp2InPlain) {
  InteropServer server;
  const Fd socket = connect_to(server.endpoint());
  const std::string preface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", 33);
  ASSERT_EQ(::send(socket.get(), preface.data(), preface.size(), MSG_NOSIGNAL), 33);
  std::array<char, 9> header{};
  pollfd item{socket.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&item, 1, 10000), 1);
  ASSERT_EQ(::recv(socket.get(), header.data(), header.size(), MSG_WAITALL), 9);
  EXPECT_EQ(header[3], 4);
}

TEST(InteropServer, OffersHttp2OverTls) {
  InteropServer server(InteropSecurity::kTls);
  const Output session =
      run({.argv = {"openssl", "s_client", "-connect", server.endpoint().text(), "-alpn", "h2",
                    "-CAfile", server.ca(), "-verify_return_error", "-verify_ip",
                    server.endpoint().host}});
  EXPECT_NE(session.out.find("ALPN protocol: h2"), std::string::npos) << session.out << session.err;
}

}  // namespace
}  // namespace quorate::support

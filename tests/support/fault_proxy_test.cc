#include "tests/support/fault_proxy.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "tests/support/fixture_error.h"
#include "tests/support/wait.h"

namespace quorate::support {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// A client and a server with the proxy in between; the test plays both.
class FaultProxyTest : public ::testing::Test {
 protected:
  static Fd listen_on(const Endpoint& endpoint) {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = endpoint.address();
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket.get(), 16) != 0)
      throw_errno("listen on " + endpoint.text());
    return socket;
  }

  static Fd accept_from(const Fd& listener) {
    if (!readable(listener, 10s)) throw FixtureError("nobody connected");
    return Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

  static bool readable(const Fd& socket, std::chrono::milliseconds within) {
    pollfd item{socket.get(), POLLIN, 0};
    return ::poll(&item, 1, static_cast<int>(within.count())) == 1;
  }

  static void send(const Fd& socket, const std::string& text) {
    if (::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(text.size()))
      throw_errno("send");
  }

  // The next bytes that come; "(end)" for the end of the stream, "(reset)", "(nothing)".
  static std::string receive(const Fd& socket, std::chrono::milliseconds within = 10s) {
    if (!readable(socket, within)) return "(nothing)";
    std::array<char, 4096> buffer{};
    const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (n < 0) return errno == ECONNRESET ? "(reset)" : "(error)";
    return n == 0 ? "(end)" : std::string(buffer.data(), static_cast<std::size_t>(n));
  }

  void connect() {
    client_ = connect_to(proxy_.endpoint());
    server_ = accept_from(listener_);
  }

  Endpoint target_ = free_endpoint();
  Fd listener_ = listen_on(target_);
  FaultProxy proxy_{target_};
  Fd client_, server_;
};

TEST_F(FaultProxyTest, ForwardsBothWaysAndCounts) {
  connect();
  send(client_, "question");
  EXPECT_EQ(receive(server_), "question");
  send(server_, "answer");
  EXPECT_EQ(receive(client_), "answer");
  const auto counters = proxy_.counters();
  EXPECT_EQ(counters.accepted, 1U);
  EXPECT_EQ(counters.open, 1U);
  EXPECT_EQ(counters.request_bytes, 8U);
  EXPECT_EQ(counters.answer_bytes, 6U);
  EXPECT_EQ(counters.lost_bytes, 0U);
}

TEST_F(FaultProxyTest, PassesOnTheEndOfEitherSide) {
  connect();
  ::shutdown(client_.get(), SHUT_WR);
  EXPECT_EQ(receive(server_), "(end)");
  send(server_, "late answer");
  server_.reset();
  EXPECT_EQ(receive(client_), "late answer");
  EXPECT_EQ(receive(client_), "(end)");
  eventually(10s, "the connection is over", [&] { return proxy_.counters().open == 0; });
}

TEST_F(FaultProxyTest, CutsBothSides) {
  connect();
  proxy_.cut();
  EXPECT_EQ(receive(client_), "(reset)");
  EXPECT_EQ(receive(server_), "(reset)");
  EXPECT_EQ(proxy_.counters().open, 0U);
  connect();
  send(client_, "again");
  EXPECT_EQ(receive(server_), "again");
}

TEST_F(FaultProxyTest, HalfClosesAnswers) {
  connect();
  proxy_.half_close_answers();
  EXPECT_EQ(receive(client_), "(end)");
  send(client_, "still heard");
  EXPECT_EQ(receive(server_), "still heard");
}

TEST_F(FaultProxyTest, HalfClosesRequests) {
  connect();
  proxy_.half_close_requests();
  EXPECT_EQ(receive(server_), "(end)");
  send(server_, "still heard");
  EXPECT_EQ(receive(client_), "still heard");
}

TEST_F(FaultProxyTest, FreezesAndThaws) {
  connect();
  proxy_.freeze();
  send(client_, "question");
  send(server_, "answer");
  EXPECT_EQ(receive(server_, 50ms), "(nothing)");
  EXPECT_EQ(receive(client_, 0ms), "(nothing)");
  const Fd newcomer = connect_to(proxy_.endpoint());  // the kernel lets it in; nobody serves it
  EXPECT_FALSE(readable(listener_, 50ms));
  proxy_.heal();
  EXPECT_EQ(receive(server_), "question");
  EXPECT_EQ(receive(client_), "answer");
  EXPECT_TRUE(readable(listener_, 10s));
}

TEST_F(FaultProxyTest, DelaysEachWay) {
  connect();
  proxy_.delay(80ms);
  const auto begun = steady_clock::now();
  send(client_, "question");
  EXPECT_EQ(receive(server_), "question");
  send(server_, "answer");
  EXPECT_EQ(receive(client_), "answer");
  EXPECT_GE(steady_clock::now() - begun, 160ms);
}

TEST_F(FaultProxyTest, HealsDelays) {
  connect();
  proxy_.delay(std::chrono::hours(1));
  send(client_, "question");
  EXPECT_EQ(receive(server_, 50ms), "(nothing)");
  proxy_.heal();
  EXPECT_EQ(receive(server_), "question");
}

TEST_F(FaultProxyTest, LosesAnswersButNotRequests) {
  connect();
  proxy_.lose_answers();
  send(client_, "question");
  EXPECT_EQ(receive(server_), "question");
  send(server_, "answer");
  eventually(10s, "the answer was lost", [&] { return proxy_.counters().lost_bytes == 6; });
  EXPECT_EQ(receive(client_, 0ms), "(nothing)");
}

TEST_F(FaultProxyTest, StaysMuteWhereItLostSomething) {
  connect();
  const Fd silent_client = std::move(client_);
  const Fd silent_server = std::move(server_);
  connect();
  proxy_.lose_answers();
  send(server_, "lost");
  eventually(10s, "the answer was lost", [&] { return proxy_.counters().lost_bytes == 4; });
  proxy_.heal();
  send(server_, "a stream with a hole");
  eventually(10s, "all was lost", [&] { return proxy_.counters().lost_bytes == 24; });
  send(silent_server, "whole");
  EXPECT_EQ(receive(silent_client), "whole");
}

TEST_F(FaultProxyTest, ResetsTheClientInsteadOfTheNextAnswer) {
  connect();
  proxy_.reset_at_next_answer();
  send(client_, "question");
  EXPECT_EQ(receive(server_), "question");
  send(server_, "answer");
  EXPECT_EQ(receive(client_), "(reset)");
  EXPECT_EQ(receive(server_, 50ms), "(nothing)");  // it is not told
  send(server_, "more");
  eventually(10s, "all was lost", [&] { return proxy_.counters().lost_bytes == 10; });
  connect();
  send(server_, "as usual");
  EXPECT_EQ(receive(client_), "as usual");
}

TEST_F(FaultProxyTest, RefusesNewConnectionsAndKeepsOldOnes) {
  connect();
  proxy_.refuse();
  EXPECT_THROW(connect_to(proxy_.endpoint()), FixtureError);
  send(client_, "old");
  EXPECT_EQ(receive(server_), "old");
  proxy_.heal();
  connect();
  send(client_, "new");
  EXPECT_EQ(receive(server_), "new");
}

TEST_F(FaultProxyTest, ShutsOneProcessOutUntilHealed) {
  connect();
  proxy_.shut_out({::getppid()});
  send(client_, "not meant");
  EXPECT_EQ(receive(server_), "not meant");
  connect();
  send(client_, "nor this");
  EXPECT_EQ(receive(server_), "nor this");

  proxy_.shut_out({::getppid(), ::getpid()});
  EXPECT_EQ(receive(client_, 0ms), "(reset)");
  EXPECT_EQ(receive(server_, 0ms), "(reset)");
  client_ = connect_to(proxy_.endpoint());
  EXPECT_EQ(receive(client_), "(reset)");

  proxy_.heal();
  connect();
  send(client_, "back");
  EXPECT_EQ(receive(server_), "back");
}

TEST_F(FaultProxyTest, ResetsTheClientWhenTheTargetIsGone) {
  listener_.reset();
  proxy_.freeze();  // or the reset may overtake connect_to, which would then report it
  client_ = connect_to(proxy_.endpoint());
  proxy_.heal();
  EXPECT_EQ(receive(client_), "(reset)");
  EXPECT_EQ(proxy_.counters().connect_failures, 1U);
}

TEST_F(FaultProxyTest, LeadsNewConnectionsToAnotherTarget) {
  const Endpoint other = free_endpoint();
  const Fd other_listener = listen_on(other);
  proxy_.retarget(other);
  client_ = connect_to(proxy_.endpoint());
  server_ = accept_from(other_listener);
  send(client_, "hello");
  EXPECT_EQ(receive(server_), "hello");
}

TEST_F(FaultProxyTest, HoldsTheClientBackWhenTheServerDoesNotRead) {
  connect();
  std::string sent;
  std::string block(100000, '\0');
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>(i % 251);
  // Until every buffer on the way is full, and stays so.
  pollfd item{client_.get(), POLLOUT, 0};
  while (::poll(&item, 1, 200) == 1) {
    const ssize_t n =
        ::send(client_.get(), block.data(), block.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ASSERT_GT(n, 0);
    sent.append(block, 0, static_cast<std::size_t>(n));
  }
  ::shutdown(client_.get(), SHUT_WR);
  std::string received;
  for (std::string part = receive(server_); part != "(end)"; part = receive(server_)) {
    ASSERT_NE(part, "(nothing)");
    received += part;
  }
  EXPECT_EQ(received.size(), sent.size());
  EXPECT_TRUE(received == sent);
}

}  // namespace
}  // namespace quorate::support

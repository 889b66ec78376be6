#include "net/websocket_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/scripted_peer.h"

namespace quorate::net {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = WebSocketMessage::Kind;

constexpr std::string_view kProtocols[] = {"echo"};
constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr WebSocketMask kMask{1, 2, 3, 4};

// Says everything back, until the client closes.
class Echo final : public Handler {
 public:
  explicit Echo(rt::Runtime runtime) : runtime_(runtime) {}
  Task<void> handle(ServerRequest request, Responder& responder) override {
    auto socket =
        co_await WebSocketServer::accept(runtime_, request.headers, responder, kProtocols);
    if (!socket) {
      (void)co_await responder.respond({400, {}, socket.error().text()});
      co_return;
    }
    for (;;) {
      auto message = co_await (*socket)->read(rt::Deadline::never());
      if (!message) {
        last_error = message.error().code();
        break;
      }
      if (!*message) break;
      (void)co_await (*socket)->write((*message)->kind, (*message)->data, soon(runtime_));
    }
    (void)co_await (*socket)->close({1000, "done"}, soon(runtime_));
    ++ended;
  }
  int ended = 0;
  std::optional<Code> last_error;

 private:
  rt::Runtime runtime_;
};

class WebSocketServerTest : public ::testing::Test {
 public:
  using Body = Task<void> (WebSocketServerTest::*)(std::uint16_t port);
  void run(Body body) {
    loop_.run(beside_server(runtime_, {}, echo_,
                            [this, body](std::uint16_t port) { return (this->*body)(port); }));
  }
  // The request, with the first bytes of the new protocol in the same piece.
  static std::string handshake(std::string_view protocol, std::string_view first = "") {
    const std::string_view offered[] = {protocol};
    std::string out = "GET /x HTTP/1.1\r\nhost: h\r\n";
    for (const auto& [name, value] : upgrade_headers(kKey, offered))
      out += name + ": " + value + "\r\n";
    return out + "\r\n" + std::string(first);
  }
  static std::string said(Kind kind, std::string_view text) {
    return render_frame(kind, text, kMask);
  }
  static std::string heard(Kind kind, std::string_view text) {
    return render_frame(kind, text, std::nullopt);
  }

  Task<void> talks(std::uint16_t port);
  Task<void> talks_early(std::uint16_t port);
  Task<void> goes(std::uint16_t port);
  Task<void> speaks_wrongly(std::uint16_t port);
  Task<void> is_refused(std::uint16_t port);

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  Echo echo_{runtime_};
};

Task<void> WebSocketServerTest::talks(std::uint16_t port) {
  auto peer = co_await dial(runtime_, port);
  co_await peer.send(handshake("echo"));
  const auto head = co_await peer.receive_until("\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\n"));
  EXPECT_THAT(head, HasSubstr("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  EXPECT_THAT(head, HasSubstr("sec-websocket-protocol: echo\r\n"));
  const std::string large(100000, 'x');
  for (const auto& text : {std::string("one"), std::string(), large}) {
    co_await peer.send(said(Kind::kBinary, text));
    const auto expected = heard(Kind::kBinary, text);
    EXPECT_EQ(co_await peer.receive_exactly(expected.size()), expected);
  }
  co_await peer.send(said(Kind::kPing, "?"));
  EXPECT_EQ(co_await peer.receive_exactly(3), heard(Kind::kPong, "?"));
  co_await peer.send(said(Kind::kClose, render_close({1001, "away"})));
  EXPECT_EQ(co_await peer.receive_rest(), heard(Kind::kClose, render_close({1001, "away"})))
      << "it is answered once";
}

TEST_F(WebSocketServerTest, SpeaksTheNewProtocolUntilTheClientClosesIt) {
  run(&WebSocketServerTest::talks);
  EXPECT_EQ(echo_.ended, 1);
}

Task<void> WebSocketServerTest::talks_early(std::uint16_t port) {
  auto peer = co_await dial(runtime_, port);
  const std::string large(40000, 'x');  // more than the server reads ahead
  co_await peer.send(handshake("echo", said(Kind::kText, "early") + said(Kind::kText, large)));
  co_await peer.receive_until("\r\n\r\n");
  const auto expected = heard(Kind::kText, "early") + heard(Kind::kText, large);
  EXPECT_EQ(co_await peer.receive_exactly(expected.size()), expected);
}

TEST_F(WebSocketServerTest, LosesNothingThatCameWithTheRequest) {
  run(&WebSocketServerTest::talks_early);
}

Task<void> WebSocketServerTest::goes(std::uint16_t port) {
  {
    auto peer = co_await dial(runtime_, port);
    co_await peer.send(handshake("echo"));
    co_await peer.receive_until("\r\n\r\n");
  }
  EXPECT_TRUE(co_await eventually(runtime_, [this] { return echo_.ended == 1; }));
}

TEST_F(WebSocketServerTest, NoticesThatTheClientHasGone) { run(&WebSocketServerTest::goes); }

Task<void> WebSocketServerTest::speaks_wrongly(std::uint16_t port) {
  auto peer = co_await dial(runtime_, port);
  co_await peer.send(handshake("echo") + heard(Kind::kText, "not masked"));
  co_await peer.receive_rest();
  EXPECT_EQ(echo_.last_error, Code::kInvalid);
}

TEST_F(WebSocketServerTest, EndsWithAClientThatDoesNotSpeakIt) {
  run(&WebSocketServerTest::speaks_wrongly);
}

Task<void> WebSocketServerTest::is_refused(std::uint16_t port) {
  auto peer = co_await dial(runtime_, port);
  co_await peer.send(handshake("other") +
                     "GET /y HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
  const auto rest = co_await peer.receive_rest();
  EXPECT_THAT(rest, StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(rest, HasSubstr("none of the protocols echo is offered"));
  EXPECT_THAT(rest, HasSubstr("no upgrade is asked for")) << "the connection goes on";
}

TEST_F(WebSocketServerTest, RefusesOtherHandshakesAsHttp) { run(&WebSocketServerTest::is_refused); }

}  // namespace
}  // namespace quorate::net

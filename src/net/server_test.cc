// Our server against callers that are slow, rude or hostile, byte by byte.

#include "net/server.h"

#include <gmock/gmock.h>

#include "net/h2_session.h"
#include "net/scripted_peer.h"
#include "pki/authority.h"

namespace quorate::net {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr auto kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

class Plain final : public Handler {
 public:
  explicit Plain(rt::Runtime runtime) : runtime_(runtime) {}
  Task<void> handle(ServerRequest request, Responder& responder) override {
    ++running;
    ++requests;
    const Leaving leaving{*this};
    if (request.path == "/wait") {
      auto waited = co_await runtime_.clock->sleep_until(runtime_.in(60s).at);
      cancelled += !waited;
      co_return;
    }
    if (request.path == "/late") (void)co_await runtime_.clock->sleep_until(runtime_.in(400ms).at);
    if (request.path == "/endless") {
      (void)co_await responder.start(200, {});
      Result<void> written;
      while (written) {
        std::string piece(16 << 10, 'x');
        written = co_await responder.write(std::move(piece), rt::Deadline::never());
      }
      last_error = written.error().code();
      co_return;
    }
    if (request.path == "/bad") {
      Response bad{200, {{"x", "a\r\nb: c"}}, ""};
      auto sent = co_await responder.respond(std::move(bad));
      last_error = sent.error().code();
      co_return;
    }
    Response response{200, {}, request.method + " " + request.path + " " + request.body};
    (void)co_await responder.respond(std::move(response));
  }

  struct Leaving {
    Plain& handler;
    ~Leaving() { --handler.running; }
  };
  int running = 0;
  int requests = 0;
  int cancelled = 0;
  std::optional<Code> last_error;

 private:
  rt::Runtime runtime_;
};

class ServerTest : public ::testing::Test {
 public:
  using Body = Task<void> (ServerTest::*)(std::uint16_t port);
  void run(Body body) {
    loop_.run(beside_server(runtime_, options_, plain_,
                            [this, body](std::uint16_t port) { return (this->*body)(port); }));
  }
  // Everything that the server says to `bytes`, until it closes.
  std::string say(std::string bytes) {
    said_ = std::move(bytes);
    run(&ServerTest::say_and_listen);
    return heard_;
  }
  Task<void> say_and_listen(std::uint16_t port) {
    auto peer = co_await dial(runtime_, port);
    co_await peer.send(said_);
    heard_ = co_await peer.receive_rest();
  }
  Task<ScriptedPeer> dial_h2(std::uint16_t port) {
    auto peer = co_await dial(runtime_, port);
    co_await peer.send(kPreface + Frame::settings().bytes());
    co_await peer.receive_frame(Frame::kSettings);
    co_return peer;
  }
  // GET on a stream: indexed ":method: GET", ":scheme: http", then literal ":authority", ":path".
  static Frame request(std::uint32_t stream, const std::string& path) {
    std::string block = "\x82\x86\x01\x01h\x04";
    block += static_cast<char>(path.size());
    return {Frame::kHeaders, Frame::kEndHeaders | Frame::kEndStream, stream, block + path};
  }

  Task<void> pipelines(std::uint16_t port);
  Task<void> continues(std::uint16_t port);
  Task<void> idles(std::uint16_t port);
  Task<void> trickles(std::uint16_t port);
  Task<void> does_not_read(std::uint16_t port);
  Task<void> goes_away(std::uint16_t port);
  Task<void> fills_up(std::uint16_t port);
  Task<void> stays(std::uint16_t port);
  Task<void> bad_handler(std::uint16_t port);
  Task<void> h2_garbage(std::uint16_t port);
  Task<void> h2_resets_rapidly(std::uint16_t port);
  Task<void> h2_too_many_streams(std::uint16_t port);
  Task<void> h2_does_not_read(std::uint16_t port);
  Task<void> h2_floods(std::uint16_t port);
  Task<void> h2_idles(std::uint16_t port);
  Task<void> h2_answers_late(std::uint16_t port);
  Task<void> h2_large_headers(std::uint16_t port);
  Task<void> tls_stalls(std::uint16_t port);

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  Plain plain_{runtime_};
  ServerOptions options_;
  std::string said_;
  std::string heard_;
};

// --- HTTP/1.1 ---

TEST_F(ServerTest, AnswersGarbageWith400AndCloses) {
  for (const char* bytes :
       {"garbage\r\n\r\n", "GET / HTTP/1.1\r\nbad\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"})
    EXPECT_THAT(say(bytes), StartsWith("HTTP/1.1 400 ")) << bytes;
  EXPECT_EQ(plain_.requests, 0);
}

TEST_F(ServerTest, LimitsHeadsAndBodies) {
  options_.max_header_bytes = 100;
  options_.max_body = 10;
  EXPECT_THAT(say("GET /" + std::string(200, 'x')), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(say("POST / HTTP/1.1\r\ncontent-length: 11\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(say("POST / HTTP/1.1\r\ncontent-length: 99999999999999\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(say("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nb\r\n01234567890\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(plain_.requests, 0);
}

TEST_F(ServerTest, AnswersHttp10AndCloses) {
  auto heard = say("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_THAT(heard, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(heard, HasSubstr("connection: close\r\n"));
  EXPECT_TRUE(heard.ends_with("GET /old "));
}

Task<void> ServerTest::pipelines(std::uint16_t port) {
  auto peer = co_await dial(runtime_, port);
  std::string three =
      "POST /1 HTTP/1.1\r\ncontent-length: 1\r\n\r\naGET /2 HTTP/1.1\r\n\r\n"
      "POST /3 HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n\r\n";
  co_await peer.send(std::move(three));
  EXPECT_THAT(co_await peer.receive_until("POST /1 a"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(co_await peer.receive_until("GET /2 "), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(co_await peer.receive_until("POST /3 b"), StartsWith("HTTP/1.1 200 OK"));
}
TEST_F(ServerTest, AnswersPipelinedRequestsInOrder) { run(&ServerTest::pipelines); }

Task<void> ServerTest::continues(std::uint16_t port) {
  auto peer = co_await dial(runtime_, port);
  std::string head = "POST / HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n";
  co_await peer.send(std::move(head));
  EXPECT_EQ(co_await peer.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  co_await peer.send(std::string("body"));
  EXPECT_THAT(co_await peer.receive_until("POST / body"), StartsWith("HTTP/1.1 200 OK"));
}
TEST_F(ServerTest, TellsCallersToGoOnWithTheirBody) { run(&ServerTest::continues); }

Task<void> ServerTest::idles(std::uint16_t port) {
  auto silent = co_await dial(runtime_, port);
  auto used = co_await dial(runtime_, port);
  co_await used.send(std::string("GET / HTTP/1.1\r\n\r\n"));
  co_await used.receive_until("GET / ");
  EXPECT_EQ(co_await silent.receive_rest(), "");
  EXPECT_EQ(co_await used.receive_rest(), "");
}
TEST_F(ServerTest, ClosesIdleConnections) {
  options_.idle_timeout = 100ms;
  run(&ServerTest::idles);
}

Task<void> ServerTest::trickles(std::uint16_t port) {
  auto peer = co_await dial(runtime_, port);
  const auto began = runtime_.clock->now();
  // A byte now and then does not keep the connection: the whole request has a time.
  while (runtime_.clock->now() - began < 10s) {
    (void)co_await runtime_.clock->sleep_until(runtime_.in(20ms).at);
    try {
      co_await peer.send(std::string("G"));
    } catch (const std::runtime_error&) {
      break;
    }
  }
  EXPECT_LT(runtime_.clock->now() - began, 5s);
}
TEST_F(ServerTest, ClosesConnectionsWhoseRequestNeverEnds) {
  options_.idle_timeout = 200ms;
  run(&ServerTest::trickles);
}

Task<void> ServerTest::does_not_read(std::uint16_t port) {
  auto peer = co_await dial(runtime_, port);
  co_await peer.send(std::string("GET /endless HTTP/1.1\r\n\r\n"));
  EXPECT_TRUE(co_await eventually(runtime_, [&] { return plain_.running == 1; }));
  EXPECT_TRUE(co_await eventually(runtime_, [&] { return plain_.running == 0; }));
}
TEST_F(ServerTest, GivesUpCallersThatDoNotReadTheirAnswer) {
  options_.idle_timeout = 200ms;
  run(&ServerTest::does_not_read);
  EXPECT_TRUE(plain_.last_error == Code::kUnavailable || plain_.last_error == Code::kCancelled);
}

Task<void> ServerTest::goes_away(std::uint16_t port) {
  for (int round = 0; round < 3; ++round) {
    auto peer = co_await dial(runtime_, port);
    co_await peer.send(std::string("GET /wait HTTP/1.1\r\n\r\n"));
    EXPECT_TRUE(co_await eventually(runtime_, [&] { return plain_.running == 1; }));
    if (round == 0) peer.close();
    if (round == 1) peer.abort();
    if (round == 2) peer.end_writing();
    EXPECT_TRUE(co_await eventually(runtime_, [&] { return plain_.running == 0; }));
    EXPECT_EQ(plain_.cancelled, round + 1);
  }
}
TEST_F(ServerTest, CancelsTheHandlerOfACallerThatHasGone) { run(&ServerTest::goes_away); }

Task<void> ServerTest::bad_handler(std::uint16_t port) {
  auto peer = co_await dial(runtime_, port);
  co_await peer.send(std::string("GET /bad HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(co_await peer.receive_until("gave no answer\n"), StartsWith("HTTP/1.1 500 "));
  EXPECT_EQ(plain_.last_error, Code::kInvalid);
}
TEST_F(ServerTest, HandlersCannotBreakOutOfTheirHeaders) { run(&ServerTest::bad_handler); }

// --- Connections ---

Task<void> ServerTest::fills_up(std::uint16_t port) {
  auto first = co_await dial(runtime_, port);
  co_await first.send(std::string("GET /1 HTTP/1.1\r\n\r\n"));
  co_await first.receive_until("GET /1 ");
  auto second = co_await dial(runtime_, port);
  co_await second.send(std::string("GET /2 HTTP/1.1\r\n\r\n"));
  // The server goes on with the first, however often, and does not look at the second.
  for (int i = 0; i < 20; ++i) {
    co_await first.send(std::string("GET /3 HTTP/1.1\r\n\r\n"));
    co_await first.receive_until("GET /3 ");
  }
  EXPECT_EQ(plain_.requests, 21);
  first.close();
  co_await second.receive_until("GET /2 ");
}
TEST_F(ServerTest, ConnectionsBeyondTheLimitWaitForTheirTurn) {
  options_.max_connections = 1;
  run(&ServerTest::fills_up);
}

Task<void> ServerTest::stays(std::uint16_t port) {
  auto peer = co_await dial(runtime_, port);
  co_await peer.send(std::string("GET /wait HTTP/1.1\r\n\r\n"));
  auto other = co_await dial_h2(port);
  co_await other.send(request(1, "/wait"));
  EXPECT_TRUE(co_await eventually(runtime_, [&] { return plain_.running == 2; }));
}
TEST_F(ServerTest, StoppingCancelsAndAwaitsOpenRequests) {
  run(&ServerTest::stays);
  EXPECT_EQ(plain_.running, 0);
  EXPECT_EQ(plain_.cancelled, 2);
}

TEST_F(ServerTest, TakesOverAnOpenListener) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = *Address::parse("127.0.0.1", 0);
  ASSERT_EQ(::bind(fd, address.native(), address.size()), 0);
  ASSERT_EQ(::listen(fd, 5), 0);
  options_.listen_fd = fd;
  EXPECT_THAT(say("GET /x HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(ServerTest, SaysWhyItCannotListen) {
  auto first = must(make_server(runtime_, options_));
  options_.port = first->port();
  auto second = make_server(runtime_, options_);
  EXPECT_THAT(second.error().text(), HasSubstr("address already in use"));
  options_.address = "nowhere";
  EXPECT_EQ(make_server(runtime_, options_).error().code(), Code::kInvalid);
}

// --- HTTP/2 ---

Task<void> ServerTest::h2_garbage(std::uint16_t port) {
  const std::vector<std::string> garbage = {
      std::string(100, '\xff'),
      std::string(100, '\0'),
      Frame{Frame::kData, 0, 0, "x"}.bytes(),                         // data on no stream
      Frame{Frame::kHeaders, Frame::kEndHeaders, 2, "\x82"}.bytes(),  // an even stream
      Frame{Frame::kHeaders, Frame::kEndHeaders, 1, "\xff\xff\xff\xff\xff"}.bytes(),
      Frame{Frame::kWindowUpdate, 0, 0, Frame::number(0, 4)}.bytes(),
      Frame{Frame::kSettings, 0, 0, "odd"}.bytes(),
      Frame{Frame::kPing, 0, 1, "12345678"}.bytes()};
  for (const auto& bytes : garbage) {
    auto peer = co_await dial_h2(port);
    co_await peer.send(bytes);
    co_await peer.receive_rest();  // the server ends it
  }
  auto peer = co_await dial_h2(port);
  co_await peer.send(request(1, "/fine"));
  co_await peer.receive_until("GET /fine ");
}
TEST_F(ServerTest, EndsHttp2ConnectionsThatBreakTheProtocol) { run(&ServerTest::h2_garbage); }

Task<void> ServerTest::h2_resets_rapidly(std::uint16_t port) {
  auto peer = co_await dial_h2(port);
  try {
    for (std::uint32_t stream = 1; stream < 20'001; stream += 2) {
      auto pair = request(stream, "/wait").bytes();
      pair += Frame::reset(stream, H2Code::kCancel).bytes();
      co_await peer.send(std::move(pair));
    }
  } catch (const std::runtime_error&) {
    // The server has had enough.
  }
  EXPECT_TRUE(co_await eventually(runtime_, [&] { return plain_.running == 0; }));
  auto other = co_await dial_h2(port);
  co_await other.send(request(1, "/fine"));
  co_await other.receive_until("GET /fine ");
}
TEST_F(ServerTest, SurvivesStreamsThatAreOpenedAndResetAtOnce) {
  run(&ServerTest::h2_resets_rapidly);
}

Task<void> ServerTest::h2_too_many_streams(std::uint16_t port) {
  auto peer = co_await dial_h2(port);
  for (std::uint32_t stream = 1; stream <= 7; stream += 2)
    co_await peer.send(request(stream, "/wait"));
  auto refused = co_await peer.receive_frame(Frame::kResetStream);
  EXPECT_EQ(refused.stream, 7U);
  EXPECT_EQ(refused.payload, Frame::number(H2Code::kRefusedStream, 4));
  EXPECT_EQ(plain_.running, 3);
}
TEST_F(ServerTest, RefusesStreamsBeyondTheLimit) {
  options_.max_streams = 3;
  run(&ServerTest::h2_too_many_streams);
}

Task<void> ServerTest::h2_does_not_read(std::uint16_t port) {
  auto peer = co_await dial_h2(port);
  co_await peer.send(request(1, "/endless"));
  EXPECT_TRUE(co_await eventually(runtime_, [&] { return plain_.running == 1; }));
  EXPECT_TRUE(co_await eventually(runtime_, [&] { return plain_.running == 0; }));
}
TEST_F(ServerTest, GivesUpHttp2CallersThatDoNotReadTheirAnswer) {
  options_.idle_timeout = 200ms;
  run(&ServerTest::h2_does_not_read);
}

Task<void> ServerTest::h2_floods(std::uint16_t port) {
  auto peer = co_await dial_h2(port);
  std::string many;
  for (int i = 0; i < 5000; ++i) many += Frame{Frame::kPing, 0, 0, "12345678"}.bytes();
  bool ended = false;
  try {
    for (int i = 0; i < 1000; ++i) co_await peer.send(many);  // and never read an answer
  } catch (const std::runtime_error&) {
    ended = true;
  }
  EXPECT_TRUE(ended);
}
TEST_F(ServerTest, EndsConnectionsThatFloodItWithPings) { run(&ServerTest::h2_floods); }

Task<void> ServerTest::h2_idles(std::uint16_t port) {
  auto idle = co_await dial_h2(port);
  auto busy = co_await dial_h2(port);
  co_await busy.send(request(1, "/wait"));
  co_await idle.receive_rest();
  EXPECT_EQ(plain_.running, 1);  // a handler takes the time that it needs
}
TEST_F(ServerTest, ClosesIdleHttp2ConnectionsButNotBusyOnes) {
  options_.idle_timeout = 100ms;
  run(&ServerTest::h2_idles);
}

Task<void> ServerTest::h2_answers_late(std::uint16_t port) {
  auto peer = co_await dial_h2(port);
  co_await peer.send(request(1, "/late"));
  co_await peer.receive_until("GET /late ");
  // The time since the answer counts, not that since the request.
  (void)co_await runtime_.clock->sleep_until(runtime_.in(100ms).at);
  co_await peer.send(request(3, "/next"));
  co_await peer.receive_until("GET /next ");
}
TEST_F(ServerTest, AnHttp2ConnectionIsIdleOnlyAfterItsLastAnswer) {
  options_.idle_timeout = 300ms;
  run(&ServerTest::h2_answers_late);
}

Task<void> ServerTest::h2_large_headers(std::uint16_t port) {
  auto peer = co_await dial_h2(port);
  auto large = request(1, "/x");
  large.payload += std::string("\x00\x01x\x7e", 4) + std::string(126, 'v');
  co_await peer.send(large);
  auto head = co_await peer.receive_frame(Frame::kHeaders);
  auto body = co_await peer.receive_frame(Frame::kData);
  EXPECT_THAT(body.payload, HasSubstr("headers are too large"));
  co_await peer.send(request(3, "/y"));
  co_await peer.receive_until("GET /y ");
  EXPECT_EQ(plain_.requests, 1);
}
TEST_F(ServerTest, LimitsHttp2Headers) {
  options_.max_header_bytes = 250;
  run(&ServerTest::h2_large_headers);
}

// --- TLS ---

Task<void> ServerTest::tls_stalls(std::uint16_t port) {
  auto silent = co_await dial(runtime_, port);
  auto plain = co_await dial(runtime_, port);
  co_await plain.send(std::string("GET / HTTP/1.1\r\n\r\n"));
  auto heard = co_await plain.receive_rest();
  EXPECT_THAT(heard, ::testing::Not(HasSubstr("HTTP/1.1")));
  EXPECT_EQ(co_await silent.receive_rest(), "");
}
TEST_F(ServerTest, EndsHandshakesThatDoNotComeToAnEnd) {
  pki::SystemKeys keys;
  const auto now = runtime_.clock->wall();
  auto ca = must(pki::Authority::make(keys, "ca", {now - 1h, now + 1h}));
  pki::LeafRequest leaf;
  leaf.names.ips = {"127.0.0.1"};
  leaf.validity = {now - 1h, now + 1h};
  auto identity = must(ca.issue(keys, leaf));
  const TlsIdentity mine{ca.certificate().pem(), identity.certificate_pem(), identity.key.pem()};
  options_.tls = must(TlsContext::for_server(mine, PeerCheck::kRequired, {"h2"}));
  options_.idle_timeout = 200ms;
  run(&ServerTest::tls_stalls);
}

}  // namespace
}  // namespace quorate::net

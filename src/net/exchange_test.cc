// Our client against our server, over HTTP/2 and HTTP/1.1 alike.

#include "net/testing.h"

namespace quorate::net {
namespace {

using namespace testing;

// Answers by path.
class Player final : public Handler {
 public:
  explicit Player(rt::Runtime with) : runtime(with), released(with) {}

  Task<void> handle(ServerRequest request, Responder& responder) override {
    ++running;
    most_running = std::max(most_running, running);
    const Leaving leaving{*this};
    last = request;
    if (request.path == "/echo") {
      Response response{200, {{"x-method", request.method}}, request.body};
      (void)co_await responder.respond(std::move(response));
    } else if (request.path == "/large") {
      Response response{200, {}, std::string(3 << 20, 'x')};
      (void)co_await responder.respond(std::move(response));
    } else if (request.path == "/stream") {
      co_await stream(responder);
    } else if (request.path == "/endless") {
      co_await endless(responder);
    } else if (request.path == "/wait") {
      Response response{200, {}, "waited"};
      while (!open_gate)
        if (!co_await released.wait(rt::Deadline::never())) co_return;
      (void)co_await responder.respond(std::move(response));
    } else if (request.path == "/cut") {
      (void)co_await responder.start(200, {});
      std::string piece = "half of it";
      (void)co_await responder.write(std::move(piece), soon(runtime));
    } else if (request.path == "/throw") {
      throw std::runtime_error("on purpose");
    } else if (request.path != "/silent") {
      Response response{404, {}, "no such path"};
      (void)co_await responder.respond(std::move(response));
    }
  }

  Task<void> stream(Responder& responder) {
    Headers headers{{"content-type", "text/plain"}};
    (void)co_await responder.start(200, std::move(headers));
    for (int i = 0; i < 3; ++i) {
      std::string piece = "piece " + std::to_string(i) + "\n";
      (void)co_await responder.write(std::move(piece), soon(runtime));
    }
    Headers trailers{{"x-end", "yes"}};
    (void)co_await responder.finish(std::move(trailers));
  }

  Task<void> endless(Responder& responder) {
    (void)co_await responder.start(200, {});
    for (;;) {
      std::string piece(16 << 10, 'y');
      auto written = co_await responder.write(std::move(piece), rt::Deadline::never());
      if (!written) co_return;
      ++pieces_written;
    }
  }

  struct Leaving {
    Player& player;
    ~Leaving() { --player.running; }
  };

  rt::Runtime runtime;
  rt::Signal released;
  bool open_gate = false;
  int running = 0;
  int most_running = 0;
  int pieces_written = 0;
  ServerRequest last;
};

// Each test runs with both versions of HTTP.
class Exchange : public ::testing::TestWithParam<bool> {
 public:
  bool http2() const { return GetParam(); }

  using Body = Task<void> (Exchange::*)(Client& client);
  void run(Body body, ServerOptions options = {}) {
    auto call_body = [this, body](Client& client) { return (this->*body)(client); };
    auto talk = [this, call_body](std::uint16_t port) {
      return with_client(runtime_, to_port(port, http2()), call_body);
    };
    loop_.run(beside_server(runtime_, std::move(options), player_, talk));
  }

  Task<void> carries_bodies(Client& client);
  Task<void> carries_large_answers(Client& client);
  Task<void> streams_with_trailers(Client& client);
  Task<void> reading_slowly_slows_the_server_down(Client& client);
  Task<void> many_at_once(Client& client);
  Task<void> refuses_what_is_larger_than_the_limit(Client& client);
  Task<void> shows_an_answer_that_was_cut_off(Client& client);
  Task<void> answers_for_handlers_that_do_not(Client& client);
  Task<void> cancels_the_handler_with_the_stream(Client& client);
  Task<void> refuses_large_bodies(Client& client);
  Task<void> head_has_no_body(Client& client);
  Task<void> connects_once(Client& client);

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  Player player_{runtime_};
};

Task<void> Exchange::carries_bodies(Client& client) {
  auto request = post("/echo", "some bytes");
  request.headers.emplace_back("x-mine", "value");
  auto response = must(co_await client.call(std::move(request), soon(runtime_)));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "some bytes");
  EXPECT_EQ(find_header(response.headers, "x-method"), "POST");
  EXPECT_EQ(find_header(player_.last.headers, "x-mine"), "value");
  EXPECT_TRUE(player_.last.peer.starts_with("127.0.0.1:"));
  auto missing = must(co_await client.call(get("/nowhere"), soon(runtime_)));
  EXPECT_EQ(missing.status, 404);
}
TEST_P(Exchange, CarriesBodiesBothWays) { run(&Exchange::carries_bodies); }

Task<void> Exchange::carries_large_answers(Client& client) {
  auto response = must(co_await client.call(get("/large"), soon(runtime_)));
  EXPECT_EQ(response.body.size(), 3U << 20);
  std::string body(5 << 20, 'b');
  auto echoed = must(co_await client.call(post("/echo", body), soon(runtime_)));
  EXPECT_TRUE(echoed.body == body);
}
TEST_P(Exchange, CarriesMoreThanAnyWindowHolds) { run(&Exchange::carries_large_answers); }

Task<void> Exchange::streams_with_trailers(Client& client) {
  auto stream = must(co_await client.open(get("/stream"), soon(runtime_)));
  EXPECT_EQ(stream->status(), 200);
  EXPECT_EQ(find_header(stream->headers(), "content-type"), "text/plain");
  std::string body;
  for (;;) {
    auto piece = co_await stream->read(soon(runtime_));
    EXPECT_TRUE(piece) << piece.error().text();
    if (!piece || !*piece) break;
    body += **piece;
  }
  EXPECT_EQ(body, "piece 0\npiece 1\npiece 2\n");
  EXPECT_EQ(find_header(stream->trailers(), "x-end"), "yes");
}
TEST_P(Exchange, StreamsAnAnswerWithItsTrailers) { run(&Exchange::streams_with_trailers); }

Task<void> Exchange::reading_slowly_slows_the_server_down(Client& client) {
  auto stream = must(co_await client.open(get("/endless"), soon(runtime_)));
  // The server stops by itself: its count stays the same over many turns.
  int seen = -1;
  for (int same = 0; same < 50; same = player_.pieces_written == seen ? same + 1 : 0) {
    seen = player_.pieces_written;
    (void)co_await runtime_.clock->sleep_until(runtime_.in(1ms).at);
  }
  EXPECT_GT(seen, 10);
  EXPECT_LT(seen, 2000);  // 32 MB: what all the buffers in between hold is less
  // Others on the same client are not held up.
  auto beside = must(co_await client.call(post("/echo", "x"), soon(runtime_)));
  // Reading lets it go on.
  for (std::size_t read = 0; read < (8U << 20);) {
    auto piece = co_await stream->read(soon(runtime_));
    EXPECT_TRUE(piece && *piece);
    if (!piece || !*piece) co_return;
    read += (*piece)->size();
  }
  EXPECT_GT(player_.pieces_written, seen);
}
TEST_P(Exchange, ReadingSlowlySlowsTheServerDownAndNobodyElse) {
  run(&Exchange::reading_slowly_slows_the_server_down);
}

Task<void> Exchange::many_at_once(Client& client) {
  std::vector<Task<Result<Response>>> calls;
  for (int i = 0; i < 200; ++i)
    calls.push_back(client.call(post("/echo", std::to_string(i)), soon(runtime_)));
  auto responses = co_await rt::all(runtime_, std::move(calls), 200);
  for (int i = 0; i < 200; ++i) {
    const auto& response = responses[static_cast<std::size_t>(i)];
    EXPECT_TRUE(response) << response.error().text();
    if (response) {
      EXPECT_EQ(response->body, std::to_string(i));
    }
  }
  EXPECT_LE(client.counters().connects, 2U);
  if (http2()) {
    EXPECT_LE(player_.most_running, 10);
  }
}
TEST_P(Exchange, ManyCallsShareFewConnectionsWithinTheServersLimit) {
  ServerOptions options;
  options.max_streams = 10;
  run(&Exchange::many_at_once, options);
}

Task<void> Exchange::refuses_what_is_larger_than_the_limit(Client& client) {
  auto response = co_await client.call(get("/large"), soon(runtime_), 1 << 20);
  EXPECT_FALSE(response);
  EXPECT_EQ(response.error().code(), Code::kInvalid);
  auto next = must(co_await client.call(post("/echo", "x"), soon(runtime_)));
}
TEST_P(Exchange, RefusesAnswersBeyondTheLimitAndGoesOn) {
  run(&Exchange::refuses_what_is_larger_than_the_limit);
}

Task<void> Exchange::shows_an_answer_that_was_cut_off(Client& client) {
  auto whole = co_await client.call(get("/cut"), soon(runtime_));
  EXPECT_FALSE(whole);
  EXPECT_EQ(whole.error().code(), Code::kUnknownOutcome);
  auto stream = must(co_await client.open(get("/cut"), soon(runtime_)));
  auto piece = co_await stream->read(soon(runtime_));
  EXPECT_EQ(piece.value(), "half of it");
  auto rest = co_await stream->read(soon(runtime_));
  EXPECT_FALSE(rest);
  EXPECT_EQ(rest.error().code(), Code::kUnavailable);
}
TEST_P(Exchange, AnAnswerThatWasCutOffIsNeverTakenForWhole) {
  run(&Exchange::shows_an_answer_that_was_cut_off);
}

Task<void> Exchange::answers_for_handlers_that_do_not(Client& client) {
  auto silent = must(co_await client.call(get("/silent"), soon(runtime_)));
  EXPECT_EQ(silent.status, 500);
  auto broken = must(co_await client.call(get("/throw"), soon(runtime_)));
  EXPECT_EQ(broken.status, 500);
}
TEST_P(Exchange, AHandlerThatBreaksOrForgetsGivesA500) {
  run(&Exchange::answers_for_handlers_that_do_not);
}

Task<void> Exchange::cancels_the_handler_with_the_stream(Client& client) {
  auto stream = must(co_await client.open(get("/endless"), soon(runtime_)));
  EXPECT_EQ(player_.running, 1);
  stream.reset();
  EXPECT_TRUE(co_await eventually(runtime_, [&] { return player_.running == 0; }));
  // A handler that waits for something else altogether, too.
  auto late = co_await client.call(get("/wait"), runtime_.in(50ms));
  EXPECT_EQ(late.error().code(), Code::kUnknownOutcome) << late.error().text();
  EXPECT_TRUE(co_await eventually(runtime_, [&] { return player_.running == 0; }));
  auto next = must(co_await client.call(post("/echo", "x"), soon(runtime_)));
}
TEST_P(Exchange, AHandlerEndsWhenItsCallerHasGone) {
  run(&Exchange::cancels_the_handler_with_the_stream);
}

Task<void> Exchange::refuses_large_bodies(Client& client) {
  auto response = must(co_await client.call(post("/echo", std::string(100, 'x')), soon(runtime_)));
  EXPECT_EQ(response.status, 413);
  auto fits = must(co_await client.call(post("/echo", std::string(64, 'x')), soon(runtime_)));
  EXPECT_EQ(fits.status, 200);
}
TEST_P(Exchange, RefusesBodiesBeyondTheServersLimit) {
  ServerOptions options;
  options.max_body = 64;
  run(&Exchange::refuses_large_bodies, options);
}

Task<void> Exchange::head_has_no_body(Client& client) {
  auto request = get("/large");
  request.method = "HEAD";
  auto response = must(co_await client.call(std::move(request), soon(runtime_)));
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(find_header(response.headers, "content-length"), std::to_string(3 << 20));
  auto next = must(co_await client.call(post("/echo", "x"), soon(runtime_)));
  EXPECT_EQ(next.body, "x");
}
TEST_P(Exchange, HeadHasALengthAndNoBody) { run(&Exchange::head_has_no_body); }

Task<void> Exchange::connects_once(Client& client) {
  for (int i = 0; i < 20; ++i) {
    auto response = co_await client.call(post("/echo", "x"), soon(runtime_));
    EXPECT_TRUE(response) << response.error().text();
  }
  EXPECT_EQ(client.counters().connects, 1U);
  EXPECT_EQ(client.counters().calls, 20U);
  EXPECT_EQ(client.counters().open_connections, 1);
  EXPECT_EQ(client.counters().open_streams, 0);
  EXPECT_GT(client.counters().bytes_received, 0U);
}
TEST_P(Exchange, ReusesItsConnection) { run(&Exchange::connects_once); }

INSTANTIATE_TEST_SUITE_P(Versions, Exchange, ::testing::Values(true, false),
                         [](const auto& version) { return version.param ? "Http2" : "Http1"; });

}  // namespace
}  // namespace quorate::net

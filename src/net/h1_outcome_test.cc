// What a client of HTTP/1.1 says about a request that failed; see h2_outcome_test.cc.

#include <gmock/gmock.h>

#include "net/scripted_peer.h"

namespace quorate::net {
namespace {

using namespace testing;
using ::testing::HasSubstr;

class H1Outcome : public ::testing::Test {
 public:
  using Script = Task<void> (H1Outcome::*)();
  using Body = Task<void> (H1Outcome::*)(Client& client);

  void run(Script script, Body body) {
    options_.endpoint = to_port(server_.port()).endpoint;
    options_.http2 = false;
    auto call_body = [this, body](Client& client) { return (this->*body)(client); };
    loop_.run(
        beside_script(runtime_, (this->*script)(), with_client(runtime_, options_, call_body)));
  }
  // A server that sends `answer` to the first request, then closes.
  void run_answer(std::string answer, Body body = &H1Outcome::call_once) {
    answer_ = std::move(answer);
    run(&H1Outcome::sends_answer, body);
  }

  Task<void> sends_answer() {
    auto peer = co_await server_.accept();
    co_await peer.receive_until("\r\n\r\n");
    co_await peer.send(answer_);
  }
  Task<void> call_once(Client& client) { result_ = co_await client.call(get("/"), soon(runtime_)); }
  Task<void> call_briefly(Client& client) {
    result_ = co_await client.call(get("/"), runtime_.in(100ms));
  }
  Code code() const { return result_->error().code(); }
  std::string text() const { return result_->error().text(); }

  Task<void> closes_at_once();
  Task<void> aborts_at_once();
  Task<void> waits_for_the_end();
  Task<void> never_accepts() { co_return; }
  Task<void> closes_between_calls();
  Task<void> call_twice(Client& client);
  Task<void> answers_early_and_closes();
  Task<void> call_with_large_body(Client& client);
  Task<void> speaks_unasked();
  Task<void> serves_two_streams();
  Task<void> streams_leave_room_for_calls(Client& client);

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  ScriptedServer server_{runtime_};
  HttpClientOptions options_;
  std::string answer_;
  std::optional<Result<Response>> result_;
  int connections_ = 0;
};

Task<void> H1Outcome::closes_at_once() {
  auto peer = co_await server_.accept();
  co_await peer.receive_until("\r\n\r\n");
  peer.close();
}
TEST_F(H1Outcome, NoAnswerLeavesTheOutcomeUnknown) {
  run(&H1Outcome::closes_at_once, &H1Outcome::call_once);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
}

Task<void> H1Outcome::aborts_at_once() {
  auto peer = co_await server_.accept();
  co_await peer.receive_until("\r\n\r\n");
  peer.abort();
}
TEST_F(H1Outcome, AResetConnectionLeavesTheOutcomeUnknown) {
  run(&H1Outcome::aborts_at_once, &H1Outcome::call_once);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
  EXPECT_EQ(result_->error().status(), std::nullopt);
}

Task<void> H1Outcome::waits_for_the_end() {
  auto peer = co_await server_.accept();
  co_await peer.receive_rest();
}
TEST_F(H1Outcome, ADeadlineAfterTheRequestLeavesTheOutcomeUnknown) {
  run(&H1Outcome::waits_for_the_end, &H1Outcome::call_briefly);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
}

TEST_F(H1Outcome, APortWithoutAServerIsUnavailable) {
  server_.stop();
  run(&H1Outcome::never_accepts, &H1Outcome::call_once);
  EXPECT_EQ(code(), Code::kUnavailable) << text();
}

TEST_F(H1Outcome, AnAnswerThatIsNoneLeavesTheOutcomeUnknown) {
  for (const char* answer :
       {"garbage\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/3 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nbad header\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-le", "HTTP/1.1 101 Switching\r\n\r\n"}) {
    run_answer(answer);
    EXPECT_EQ(code(), Code::kUnknownOutcome) << answer << ": " << text();
  }
}

TEST_F(H1Outcome, ABodyThatBreaksOffIsNoAnswer) {
  for (const char* answer :
       {"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf and more",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"}) {
    run_answer(answer);
    EXPECT_EQ(code(), Code::kUnknownOutcome) << answer << ": " << text();
  }
}

TEST_F(H1Outcome, ReadsEveryFormOfBody) {
  const std::pair<const char*, const char*> forms[] = {
      {"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody", "body"},
      {"HTTP/1.1 200 OK\r\n\r\nbody", "body"},
      {"HTTP/1.0 200 OK\r\n\r\nbody", "body"},
      {"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;x=y\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n",
       "body"},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody", "body"},
      {"HTTP/1.1 204 No Content\r\n\r\n", ""},
      {"HTTP/1.1 304 Not Modified\r\ncontent-length: 4\r\n\r\n", ""},
  };
  for (const auto& [answer, body] : forms) {
    run_answer(answer);
    ASSERT_TRUE(*result_) << answer << ": " << text();
    EXPECT_EQ((*result_)->body, body) << answer;
  }
}

TEST_F(H1Outcome, TrailersComeBehindTheChunks) {
  run_answer(
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nX-End: yes\r\nother: 1\r\n\r\n");
  ASSERT_TRUE(*result_) << text();
  EXPECT_EQ(find_header((*result_)->trailers, "x-end"), "yes");
  EXPECT_EQ(find_header((*result_)->trailers, "other"), "1");
}

Task<void> H1Outcome::closes_between_calls() {
  for (int i = 0; i < 2; ++i) {
    auto peer = co_await server_.accept();
    co_await peer.receive_until("\r\n\r\n");
    std::string answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    co_await peer.send(std::move(answer));
    peer.close();
    ++connections_;
  }
}
Task<void> H1Outcome::call_twice(Client& client) {
  for (int i = 0; i < 2; ++i) {
    must(co_await client.call(get("/"), soon(runtime_)));
    co_await eventually(runtime_, [&] { return connections_ > i; });
  }
}
TEST_F(H1Outcome, AConnectionThatWasClosedWhileIdleIsNotUsedAgain) {
  run(&H1Outcome::closes_between_calls, &H1Outcome::call_twice);
  EXPECT_EQ(connections_, 2);
}

Task<void> H1Outcome::speaks_unasked() {
  auto peer = co_await server_.accept();
  co_await peer.receive_until("\r\n\r\n");
  std::string answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
  co_await peer.send(answer + answer);
  ++connections_;
  auto next = co_await server_.accept();
  co_await next.receive_until("\r\n\r\n");
  co_await next.send(answer);
  ++connections_;
}
TEST_F(H1Outcome, AnAnswerThatNobodyAskedForIsNotTakenForTheNext) {
  run(&H1Outcome::speaks_unasked, &H1Outcome::call_twice);
  EXPECT_EQ(connections_, 2);
}

Task<void> H1Outcome::answers_early_and_closes() {
  auto peer = co_await server_.accept();
  co_await peer.receive_until("\r\n\r\n");
  std::string refusal =
      "HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 3\r\n\r\nno\n";
  co_await peer.send(std::move(refusal));
  peer.end_writing();
  co_await peer.receive_rest();
}
Task<void> H1Outcome::call_with_large_body(Client& client) {
  result_ = co_await client.call(post("/", std::string(8 << 20, 'x')), soon(runtime_));
}
TEST_F(H1Outcome, AnAnswerThatComesBeforeTheRequestIsOutCounts) {
  run(&H1Outcome::answers_early_and_closes, &H1Outcome::call_with_large_body);
  ASSERT_TRUE(*result_) << text();
  EXPECT_EQ((*result_)->status, 413);
}

Task<void> H1Outcome::serves_two_streams() {
  auto first = co_await server_.accept();
  co_await first.receive_until("\r\n\r\n");
  std::string head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  co_await first.send(head);
  auto second = co_await server_.accept();
  co_await second.receive_until("\r\n\r\n");
  std::string answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
  co_await second.send(std::move(answer));
  co_await second.receive_rest();
}
Task<void> H1Outcome::streams_leave_room_for_calls(Client& client) {
  auto stream = must(co_await client.open(get("/stream"), soon(runtime_)));
  auto second = co_await client.open(get("/stream"), runtime_.in(50ms));
  EXPECT_EQ(second.error().code(), Code::kTimeout) << second.error().text();
  must(co_await client.call(get("/"), soon(runtime_)));
}
TEST_F(H1Outcome, StreamsThatStayOpenLeaveAConnectionToCalls) {
  options_.max_connections = 2;
  run(&H1Outcome::serves_two_streams, &H1Outcome::streams_leave_room_for_calls);
}

}  // namespace
}  // namespace quorate::net

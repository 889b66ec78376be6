// What a client of HTTP/2 says about a request that failed: that is what the caller's next step
// hangs on, so each case has a peer that behaves in exactly that way.

#include <gmock/gmock.h>

#include "net/h2_session.h"
#include "net/scripted_peer.h"

namespace quorate::net {
namespace {

using namespace testing;
using ::testing::HasSubstr;

class H2Outcome : public ::testing::Test {
 public:
  using Script = Task<void> (H2Outcome::*)();
  using Body = Task<void> (H2Outcome::*)(Client& client);

  void run(Script script, Body body) {
    options_.endpoint = to_port(server_.port()).endpoint;
    auto call_body = [this, body](Client& client) { return (this->*body)(client); };
    loop_.run(
        beside_script(runtime_, (this->*script)(), with_client(runtime_, options_, call_body)));
  }

  Task<void> call_once(Client& client) { result_ = co_await client.call(get("/"), soon(runtime_)); }
  void run_call(Script script) { run(script, &H2Outcome::call_once); }
  Code code() const { return result_->error().code(); }
  std::string text() const { return result_->error().text(); }

  // A peer that has received the head of one request.
  Task<ScriptedPeer> accept_request(Frame settings = Frame::settings()) {
    auto peer = co_await server_.accept();
    co_await peer.shake_hands(settings);
    co_await peer.receive_frame(Frame::kHeaders);
    ++requests_;
    co_return peer;
  }
  Task<void> answer(ScriptedPeer& peer, std::uint32_t stream) {
    co_await peer.send(Frame::head_200(stream));
    co_await peer.send(Frame::data(stream, "answer", true));
  }

  Task<void> closes_at_once();
  Task<void> stays_silent();
  Task<void> speaks_http1();
  Task<void> closes_after_the_request();
  Task<void> aborts_after_the_request();
  Task<void> ends_writing_after_the_request();
  Task<void> goes_away_below_the_request();
  Task<void> call_twice(Client& client);
  Task<void> goes_away_and_answers();
  Task<void> goes_away_and_breaks();
  Task<void> refuses_the_stream();
  Task<void> cancels_the_stream();
  Task<void> sends_garbage_after_the_request();
  Task<void> cuts_the_body();
  Task<void> call_cut_body(Client& client);
  Task<void> expects_a_reset();
  Task<void> call_with_short_deadline(Client& client);
  Task<void> allows_one_stream();
  Task<void> call_beyond_the_limit(Client& client);
  Task<void> never_reads();
  Task<void> call_a_full_pipe(Client& client);
  Task<void> answers_pings_slowly();
  Task<void> never_answers();
  Task<void> call_into_silence(Client& client);
  Task<void> second_connection_works();
  Task<void> call_after_silence(Client& client);
  Task<void> answers_in_crumbs();
  Task<void> sends_interim_heads();
  Task<void> sends_huge_headers();
  Task<void> cancelled_call(Client& client);
  Task<void> raises_its_limit();
  Task<void> call_three_at_once(Client& client);

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  ScriptedServer server_{runtime_};
  HttpClientOptions options_;
  std::optional<Result<Response>> result_;
  int requests_ = 0;  // that have reached the script
  bool script_done_ = false;
};

// --- Nothing was sent: unavailable, or timeout if it was our own deadline ---

Task<void> H2Outcome::closes_at_once() {
  auto peer = co_await server_.accept();
  peer.close();
}
TEST_F(H2Outcome, AServerThatClosesBeforeItSpeaksIsUnavailable) {
  run_call(&H2Outcome::closes_at_once);
  EXPECT_EQ(code(), Code::kUnavailable) << text();
}

TEST_F(H2Outcome, APortWithoutAServerIsUnavailable) {
  options_.endpoint = to_port(server_.port()).endpoint;
  server_.stop();
  auto body = [this](Client& client) { return call_once(client); };
  loop_.run(with_client(runtime_, options_, body));
  EXPECT_EQ(code(), Code::kUnavailable);
  EXPECT_THAT(text(), HasSubstr("connection refused"));
  EXPECT_EQ(result_->error().status(), std::nullopt);
}

Task<void> H2Outcome::stays_silent() {
  auto peer = co_await server_.accept();
  auto rest = co_await peer.receive_rest();
  rest.erase(0, 24);
  for (std::size_t at = 3; at < rest.size(); at += 9 + static_cast<unsigned char>(rest[at - 1]))
    EXPECT_NE(rest[at], Frame::kHeaders);
}
TEST_F(H2Outcome, AServerThatNeverSpeaksIsUnavailableAndGetsNoRequest) {
  options_.connect_timeout = 100ms;
  run_call(&H2Outcome::stays_silent);
  EXPECT_EQ(code(), Code::kUnavailable) << text();
  EXPECT_THAT(text(), HasSubstr("did not begin to speak http/2"));
}

Task<void> H2Outcome::call_with_short_deadline(Client& client) {
  result_ = co_await client.call(get("/"), runtime_.in(100ms));
}
TEST_F(H2Outcome, OurDeadlineWhileConnectingIsATimeout) {
  run(&H2Outcome::stays_silent, &H2Outcome::call_with_short_deadline);
  EXPECT_EQ(code(), Code::kTimeout) << text();
}

Task<void> H2Outcome::speaks_http1() {
  auto peer = co_await server_.accept();
  co_await peer.receive_exactly(24);
  std::string answer = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
  co_await peer.send(std::move(answer));
  co_await peer.receive_rest();
}
TEST_F(H2Outcome, AServerOfAnotherProtocolIsUnavailable) {
  run_call(&H2Outcome::speaks_http1);
  EXPECT_EQ(code(), Code::kUnavailable) << text();
}

Task<void> H2Outcome::allows_one_stream() {
  auto peer = co_await accept_request(Frame::max_streams(1));
  // The first request has come. The second must not, whatever happens to it.
  for (;;) {
    auto frame = co_await peer.receive_frame();
    EXPECT_NE(frame.type, Frame::kHeaders);
    if (frame.type == Frame::kPing) break;
  }
  co_await answer(peer, 1);
  script_done_ = true;
  co_await peer.receive_rest();
}
Task<void> H2Outcome::call_beyond_the_limit(Client& client) {
  rt::TaskGroup group(runtime_);
  group.spawn("first", call_once(client));
  co_await eventually(runtime_, [&] { return client.counters().open_streams == 1; });
  auto second = co_await client.call(get("/second"), runtime_.in(50ms));
  EXPECT_EQ(second.error().code(), Code::kTimeout) << second.error().text();
  co_await group.join();
}
TEST_F(H2Outcome, ARequestThatWaitsForItsTurnIsNotSentAfterItsDeadline) {
  options_.ping_after = 200ms;  // tells the script that the deadline has long passed
  run(&H2Outcome::allows_one_stream, &H2Outcome::call_beyond_the_limit);
  EXPECT_TRUE(script_done_);
  EXPECT_TRUE(*result_) << text();
}

// --- Sent, and certainly not processed: unavailable ---

Task<void> H2Outcome::goes_away_below_the_request() {
  auto peer = co_await accept_request();
  auto goaway = Frame::goaway(0, H2Code::kEnhanceYourCalm);
  goaway.payload += "too_many_pings";
  co_await peer.send(goaway);
  auto next = co_await accept_request();
  co_await answer(next, 1);
  co_await next.receive_rest();
}
Task<void> H2Outcome::call_twice(Client& client) {
  co_await call_once(client);
  auto second = co_await client.call(get("/second"), soon(runtime_));
  EXPECT_TRUE(second) << second.error().text();
  EXPECT_EQ(client.counters().connects, 2U);
}
TEST_F(H2Outcome, AGoawayBelowTheRequestIsUnavailableAndTheNextGoesElsewhere) {
  run(&H2Outcome::goes_away_below_the_request, &H2Outcome::call_twice);
  EXPECT_EQ(code(), Code::kUnavailable) << text();
  EXPECT_THAT(text(), HasSubstr("gone away: ENHANCE_YOUR_CALM too_many_pings"));
}

Task<void> H2Outcome::refuses_the_stream() {
  auto peer = co_await accept_request();
  co_await peer.send(Frame::reset(1, H2Code::kRefusedStream));
  co_await peer.receive_rest();
}
TEST_F(H2Outcome, ARefusedStreamIsUnavailable) {
  run_call(&H2Outcome::refuses_the_stream);
  EXPECT_EQ(code(), Code::kUnavailable) << text();
}

// --- Sent, and no answer: unknown outcome ---

Task<void> H2Outcome::closes_after_the_request() {
  auto peer = co_await accept_request();
  peer.close();
}
TEST_F(H2Outcome, AConnectionClosedAfterTheRequestLeavesTheOutcomeUnknown) {
  run_call(&H2Outcome::closes_after_the_request);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
}

Task<void> H2Outcome::aborts_after_the_request() {
  auto peer = co_await accept_request();
  peer.abort();
}
TEST_F(H2Outcome, AConnectionResetAfterTheRequestLeavesTheOutcomeUnknown) {
  run_call(&H2Outcome::aborts_after_the_request);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
  EXPECT_EQ(result_->error().status(), std::nullopt);
}

Task<void> H2Outcome::ends_writing_after_the_request() {
  auto peer = co_await accept_request();
  peer.end_writing();
  co_await peer.receive_rest();
}
TEST_F(H2Outcome, AHalfClosedConnectionLeavesTheOutcomeUnknown) {
  run_call(&H2Outcome::ends_writing_after_the_request);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
}

Task<void> H2Outcome::goes_away_and_breaks() {
  auto peer = co_await accept_request();
  co_await peer.send(Frame::goaway(1));
  peer.close();
}
TEST_F(H2Outcome, AGoawayAboveTheRequestThatThenBreaksLeavesTheOutcomeUnknown) {
  run_call(&H2Outcome::goes_away_and_breaks);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
}

Task<void> H2Outcome::cancels_the_stream() {
  auto peer = co_await accept_request();
  co_await peer.send(Frame::reset(1, H2Code::kCancel));
  co_await peer.receive_rest();
}
TEST_F(H2Outcome, AStreamResetForAnyOtherReasonLeavesTheOutcomeUnknown) {
  run_call(&H2Outcome::cancels_the_stream);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
  EXPECT_THAT(text(), HasSubstr("CANCEL"));
}

Task<void> H2Outcome::sends_garbage_after_the_request() {
  auto peer = co_await accept_request();
  std::string garbage(64, '\xff');
  co_await peer.send(std::move(garbage));
  co_await peer.receive_rest();
}
TEST_F(H2Outcome, GarbageAfterTheRequestLeavesTheOutcomeUnknown) {
  run_call(&H2Outcome::sends_garbage_after_the_request);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
}

Task<void> H2Outcome::cuts_the_body() {
  auto peer = co_await accept_request();
  co_await peer.send(Frame::head_200(1));
  co_await peer.send(Frame::data(1, "half", false));
  co_await peer.send(Frame::reset(1, H2Code::kInternalError));
  auto other = co_await accept_request();
  co_await other.send(Frame::head_200(1));
  co_await other.send(Frame::data(1, "half", false));
  other.abort();
  co_await peer.receive_rest();
}
Task<void> H2Outcome::call_cut_body(Client& client) {
  co_await call_once(client);
  auto stream = must(co_await client.open(get("/"), soon(runtime_)));
  auto piece = co_await stream->read(soon(runtime_));
  if (piece) piece = co_await stream->read(soon(runtime_));
  EXPECT_EQ(piece.error().code(), Code::kUnavailable) << piece.error().text();
}
TEST_F(H2Outcome, ABodyThatBreaksOffIsNoAnswer) {
  run(&H2Outcome::cuts_the_body, &H2Outcome::call_cut_body);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
}

Task<void> H2Outcome::expects_a_reset() {
  auto peer = co_await accept_request();
  auto frame = co_await peer.receive_frame(Frame::kResetStream);
  EXPECT_EQ(frame.stream, 1U);
  EXPECT_EQ(frame.payload, Frame::number(H2Code::kCancel, 4));
  script_done_ = true;
  co_await peer.receive_rest();
}
TEST_F(H2Outcome, ADeadlineAfterTheRequestLeavesTheOutcomeUnknownAndResetsTheStream) {
  run(&H2Outcome::expects_a_reset, &H2Outcome::call_with_short_deadline);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
  EXPECT_TRUE(script_done_);
}

Task<void> H2Outcome::cancelled_call(Client& client) {
  rt::TaskGroup group(runtime_);
  group.spawn("call", call_once(client));
  co_await eventually(runtime_, [&] { return requests_ == 1; });
  group.cancel();
  co_await group.join();
}
TEST_F(H2Outcome, ACancelledCallSaysSoAndResetsTheStream) {
  run(&H2Outcome::expects_a_reset, &H2Outcome::cancelled_call);
  EXPECT_EQ(code(), Code::kCancelled) << text();
  EXPECT_TRUE(script_done_);
}

Task<void> H2Outcome::never_reads() {
  auto peer = co_await server_.accept();
  co_await peer.shake_hands();
  co_await eventually(runtime_, [&] { return result_.has_value(); });
}
Task<void> H2Outcome::call_a_full_pipe(Client& client) {
  // More than the peer's window and the kernel hold, so that it cannot all leave.
  result_ = co_await client.call(post("/", std::string(32 << 20, 'x')), runtime_.in(200ms));
}
TEST_F(H2Outcome, ARequestThatLeftInPartHasAnUnknownOutcome) {
  run(&H2Outcome::never_reads, &H2Outcome::call_a_full_pipe);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
}

// --- Dead peers ---

Task<void> H2Outcome::never_answers() {
  auto peer = co_await accept_request();
  co_await eventually(runtime_, [&] { return result_.has_value(); });
}
Task<void> H2Outcome::call_into_silence(Client& client) {
  const auto began = runtime_.clock->now();
  co_await call_once(client);
  const auto took = runtime_.clock->now() - began;
  EXPECT_GE(took, options_.ping_after + options_.ping_timeout);
  EXPECT_LT(took, options_.ping_after + options_.ping_timeout + 5s);
}
TEST_F(H2Outcome, ADeadPeerIsNoticedByItsSilenceToAPing) {
  options_.ping_after = 100ms;
  options_.ping_timeout = 100ms;
  run(&H2Outcome::never_answers, &H2Outcome::call_into_silence);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
  EXPECT_THAT(text(), HasSubstr("did not answer a ping"));
}

Task<void> H2Outcome::answers_pings_slowly() {
  auto peer = co_await accept_request();
  for (int i = 0; i < 4; ++i) {
    auto ping = co_await peer.receive_frame(Frame::kPing);
    ping.flags = Frame::kAck;
    co_await peer.send(ping);
  }
  co_await answer(peer, 1);
  co_await peer.receive_rest();
}
TEST_F(H2Outcome, APeerThatAnswersPingsIsWaitedFor) {
  options_.ping_after = 20ms;
  options_.ping_timeout = 5s;
  const auto began = runtime_.clock->now();
  run_call(&H2Outcome::answers_pings_slowly);
  // An answered ping does not put the next one off.
  EXPECT_LT(runtime_.clock->now() - began, 4s);
  ASSERT_TRUE(*result_) << text();
  EXPECT_EQ((*result_)->body, "answer");
}

Task<void> H2Outcome::second_connection_works() {
  auto silent = co_await accept_request();
  auto next = co_await accept_request();
  co_await answer(next, 1);
  co_await next.receive_rest();
}
Task<void> H2Outcome::call_after_silence(Client& client) {
  co_await call_with_short_deadline(client);
  auto second = co_await client.call(get("/second"), soon(runtime_));
  EXPECT_TRUE(second) << second.error().text();
  EXPECT_EQ(client.counters().connects, 2U);
}
TEST_F(H2Outcome, AfterADeadlineInSilenceTheNextCallTakesANewConnection) {
  run(&H2Outcome::second_connection_works, &H2Outcome::call_after_silence);
  EXPECT_EQ(code(), Code::kUnknownOutcome) << text();
}

// --- What is fine ---

Task<void> H2Outcome::goes_away_and_answers() {
  auto peer = co_await accept_request();
  co_await peer.send(Frame::goaway(1));
  co_await answer(peer, 1);
  auto next = co_await accept_request();
  co_await answer(next, 1);
  co_await next.receive_rest();
}
TEST_F(H2Outcome, ARequestBelowAGoawayIsStillAnswered) {
  run(&H2Outcome::goes_away_and_answers, &H2Outcome::call_twice);
  ASSERT_TRUE(*result_) << text();
  EXPECT_EQ((*result_)->body, "answer");
}

Task<void> H2Outcome::answers_in_crumbs() {
  auto peer = co_await accept_request();
  for (char byte : Frame::head_200(1).bytes() + Frame::data(1, "answer", true).bytes()) {
    std::string crumb(1, byte);
    co_await peer.send(std::move(crumb));
    (void)co_await yield();
  }
  co_await peer.receive_rest();
}
TEST_F(H2Outcome, FramesMayComeByteByByte) {
  run_call(&H2Outcome::answers_in_crumbs);
  ASSERT_TRUE(*result_) << text();
  EXPECT_EQ((*result_)->body, "answer");
}

Task<void> H2Outcome::sends_interim_heads() {
  auto peer = co_await accept_request();
  // Literal ":status: 103", then the real head.
  Frame interim{Frame::kHeaders, Frame::kEndHeaders, 1, std::string("\x08\x03") + "103"};
  co_await peer.send(interim);
  co_await answer(peer, 1);
  co_await peer.receive_rest();
}
TEST_F(H2Outcome, InterimHeadsArePassedOver) {
  run_call(&H2Outcome::sends_interim_heads);
  ASSERT_TRUE(*result_) << text();
  EXPECT_EQ((*result_)->status, 200);
}

Task<void> H2Outcome::sends_huge_headers() {
  auto peer = co_await accept_request();
  std::string block = "\x88";
  for (int i = 0; i < 100; ++i)  // literal, not indexed: "x: " and 1000 bytes
    block += std::string("\x00\x01x", 3) + "\x7f" + "\xe9\x06" + std::string(1000, 'v');
  const std::size_t half = 16000;
  for (std::size_t at = 0; at < block.size(); at += half) {
    const bool last = at + half >= block.size();
    Frame part{static_cast<std::uint8_t>(at == 0 ? Frame::kHeaders : 9),
               static_cast<std::uint8_t>(last ? Frame::kEndHeaders : 0), 1, block.substr(at, half)};
    co_await peer.send(part);
  }
  co_await peer.receive_rest();
}
TEST_F(H2Outcome, HugeHeadersAreRefused) {
  run_call(&H2Outcome::sends_huge_headers);
  EXPECT_EQ(code(), Code::kInvalid) << text();
}

Task<void> H2Outcome::raises_its_limit() {
  auto peer = co_await server_.accept();
  co_await peer.shake_hands(Frame::max_streams(0));
  co_await peer.send(Frame::max_streams(3));
  for (std::uint32_t stream = 1; stream <= 5; stream += 2)
    co_await peer.receive_frame(Frame::kHeaders);
  for (std::uint32_t stream = 1; stream <= 5; stream += 2) co_await answer(peer, stream);
  co_await peer.receive_rest();
}
Task<void> H2Outcome::call_three_at_once(Client& client) {
  std::vector<Task<Result<Response>>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(client.call(get("/"), soon(runtime_)));
  auto results = co_await rt::all(runtime_, std::move(calls));
  for (auto& result : results) EXPECT_TRUE(result) << result.error().text();
}
TEST_F(H2Outcome, RequestsWaitUntilTheServerAllowsThem) {
  run(&H2Outcome::raises_its_limit, &H2Outcome::call_three_at_once);
}

}  // namespace
}  // namespace quorate::net

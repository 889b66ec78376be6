// gRPC calls against a server of ours that plays what real ones do at their worst.

#include <gmock/gmock.h>

#include "net/grpc.h"
#include "net/grpc_codec.h"
#include "net/testing.h"

namespace quorate::net {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const Headers kGrpcHead = {{"content-type", "application/grpc"}};
const Headers kOk = {{"grpc-status", "0"}};

// Answers by the method's last part.
class GrpcPlayer final : public Handler {
 public:
  explicit GrpcPlayer(rt::Runtime runtime) : runtime_(runtime) {}

  Task<void> handle(ServerRequest request, Responder& responder) override {
    last = request;
    const auto what = request.path.substr(request.path.rfind('/') + 1);
    if (what == "Echo") co_await answer(responder, request.body, kOk);
    if (what == "Twice") co_await answer(responder, request.body + request.body, kOk);
    if (what == "Nothing") co_await answer(responder, "", kOk);
    if (what == "NoStatus") co_await answer(responder, request.body, {});
    if (what == "Compressed") co_await answer(responder, std::string("\x01\0\0\0\1x", 6), kOk);
    if (what == "CutOff") co_await answer(responder, request.body.substr(0, 7), kOk);
    if (what == "Three")
      co_await answer(responder, request.body + request.body + request.body, kOk);
    if (what == "Late") {
      Headers late = {{"grpc-status", "14"}, {"grpc-message", "etcdserver: no leader"}};
      co_await answer(responder, request.body, std::move(late));
    }
    if (what == "Refuse") {
      Response head_only{200, kGrpcHead, ""};
      head_only.headers.emplace_back("grpc-status", "7");
      head_only.headers.emplace_back("grpc-message", "not%20you");
      (void)co_await responder.respond(std::move(head_only));
    }
    if (what == "Html") {
      Response page{200, {{"content-type", "text/html"}}, "<p>a proxy</p>"};
      (void)co_await responder.respond(std::move(page));
    }
    if (what == "Busy") {
      Response busy{503, {}, "a proxy"};
      (void)co_await responder.respond(std::move(busy));
    }
    if (what == "Sleep") (void)co_await runtime_.clock->sleep_until(runtime_.in(60s).at);
  }

  Task<void> answer(Responder& responder, std::string body, Headers trailers) {
    (void)co_await responder.start(200, kGrpcHead);
    (void)co_await responder.write(std::move(body), soon(runtime_));
    (void)co_await responder.finish(std::move(trailers));
  }

  ServerRequest last;

 private:
  rt::Runtime runtime_;
};

class Channel : public ::testing::Test {
 public:
  using Body = Task<void> (Channel::*)(GrpcChannel& channel);
  void run(Body body) {
    auto with_channel = [this, body](Client& client) {
      channel_ = make_grpc_channel(client);
      return (this->*body)(*channel_);
    };
    auto talk = [this, with_channel](std::uint16_t port) {
      return with_client(runtime_, to_port(port), with_channel);
    };
    loop_.run(beside_server(runtime_, {}, player_, talk));
  }
  Task<Result<GrpcAnswer>> call(std::string what) {
    return channel_->unary("/s.S/" + what, "message", {}, soon(runtime_));
  }

  Task<void> says_what_it_should(GrpcChannel& channel);
  Task<void> maps_statuses(GrpcChannel& channel);
  Task<void> refuses_bad_answers(GrpcChannel& channel);
  Task<void> streams(GrpcChannel& channel);
  Task<void> times_out(GrpcChannel& channel);

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  GrpcPlayer player_{runtime_};
  std::unique_ptr<GrpcChannel> channel_;
};

Task<void> Channel::says_what_it_should(GrpcChannel& channel) {
  GrpcOptions options;
  options.metadata = {{"authorization", "token"}, {"trace-bin", std::string("\0\1", 2)}};
  auto answer = must(co_await channel.unary("/s.S/Echo", "message", options, runtime_.in(5s)));
  EXPECT_EQ(answer.message, "message");
  const auto& headers = player_.last.headers;
  EXPECT_EQ(player_.last.method, "POST");
  EXPECT_EQ(player_.last.path, "/s.S/Echo");
  EXPECT_EQ(find_header(headers, "te"), "trailers");
  EXPECT_EQ(find_header(headers, "content-type"), "application/grpc");
  EXPECT_EQ(find_header(headers, "authorization"), "token");
  EXPECT_EQ(find_header(headers, "trace-bin"), "AAE");
  const auto timeout = std::string(find_header(headers, "grpc-timeout").value());
  EXPECT_TRUE(timeout.ends_with('m'));
  EXPECT_GT(std::stoi(timeout), 4000);
  EXPECT_LE(std::stoi(timeout), 5000);
  must(co_await channel.unary("/s.S/Echo", "", {}, rt::Deadline::never()));
  EXPECT_EQ(find_header(player_.last.headers, "grpc-timeout"), std::nullopt);
}
TEST_F(Channel, SendsWhatTheProtocolAsksFor) { run(&Channel::says_what_it_should); }

Task<void> Channel::maps_statuses(GrpcChannel&) {
  auto refused = co_await call("Refuse");
  EXPECT_EQ(refused.error().status(), 7);
  EXPECT_EQ(refused.error().message(), "not you");
  EXPECT_EQ(refused.error().code(), Code::kForbidden);
  auto late = co_await call("Late");
  EXPECT_EQ(late.error().status(), 14);
  EXPECT_EQ(late.error().message(), "etcdserver: no leader");
  EXPECT_EQ(late.error().code(), Code::kUnknownOutcome);
  auto busy = co_await call("Busy");
  EXPECT_EQ(busy.error().status(), 14);
  auto unsaid = co_await call("NoStatus");
  EXPECT_EQ(unsaid.error().status(), 2);
  EXPECT_THAT(unsaid.error().text(), HasSubstr("without a grpc-status"));
}
TEST_F(Channel, StatusesComeFromTrailersHeadsAndHttp) { run(&Channel::maps_statuses); }

Task<void> Channel::refuses_bad_answers(GrpcChannel&) {
  const std::vector<std::string> bad = {"Twice", "Nothing", "Compressed", "CutOff", "Html"};
  for (const auto& what : bad) {
    auto answer = co_await call(what);
    EXPECT_FALSE(answer) << what;
    if (!answer) {
      EXPECT_EQ(answer.error().code(), Code::kCorrupt) << what;
    }
  }
}
TEST_F(Channel, RefusesAnswersThatAreNone) { run(&Channel::refuses_bad_answers); }

Task<void> Channel::streams(GrpcChannel& channel) {
  auto stream = must(co_await channel.server_stream("/s.S/Three", "m", {}, soon(runtime_)));
  for (int i = 0; i < 3; ++i) {
    auto message = must(co_await stream->read(soon(runtime_)));
    EXPECT_EQ(message, "m");
  }
  EXPECT_EQ(must(co_await stream->read(soon(runtime_))), std::nullopt);
  EXPECT_EQ(find_header(stream->trailers(), "grpc-status"), "0");

  auto refused = co_await channel.server_stream("/s.S/Refuse", "m", {}, soon(runtime_));
  EXPECT_EQ(refused.error().status(), 7);
  auto late = must(co_await channel.server_stream("/s.S/Late", "m", {}, soon(runtime_)));
  EXPECT_EQ(must(co_await late->read(soon(runtime_))), "m");
  auto end = co_await late->read(soon(runtime_));
  EXPECT_EQ(end.error().status(), 14);
  auto cut = must(co_await channel.server_stream("/s.S/CutOff", "messages", {}, soon(runtime_)));
  end = co_await cut->read(soon(runtime_));
  EXPECT_EQ(end.error().code(), Code::kCorrupt);
}
TEST_F(Channel, StreamsEndWithTheirStatus) { run(&Channel::streams); }

Task<void> Channel::times_out(GrpcChannel& channel) {
  auto late = co_await channel.unary("/s.S/Sleep", "m", {}, runtime_.in(50ms));
  EXPECT_EQ(late.error().code(), Code::kUnknownOutcome);
  EXPECT_EQ(late.error().status(), std::nullopt);
  auto stream = co_await channel.server_stream("/s.S/Sleep", "m", {}, runtime_.in(50ms));
  EXPECT_EQ(stream.error().code(), Code::kUnknownOutcome);
}
TEST_F(Channel, OurOwnDeadlineIsNoStatusOfTheServer) { run(&Channel::times_out); }

}  // namespace
}  // namespace quorate::net

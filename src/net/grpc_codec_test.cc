#include "net/grpc_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace quorate::net {
namespace {

using namespace std::chrono_literals;

RC_GTEST_PROP(GrpcDeframer, GivesBackWhatWasFramedHoweverItArrives, ()) {
  const auto messages =
      *rc::gen::container<std::vector<std::string>>(rc::gen::arbitrary<std::string>());
  std::string wire;
  for (const auto& message : messages) wire += frame_message(message);
  GrpcDeframer deframer(1 << 20);
  std::vector<std::string> found;
  while (!wire.empty()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, wire.size() + 1);
    deframer.add(wire.substr(0, size));
    wire.erase(0, size);
    for (auto next = deframer.next(); next && *next; next = deframer.next())
      found.push_back(**next);
  }
  RC_ASSERT(found == messages);
  RC_ASSERT(deframer.empty());
}

TEST(GrpcDeframer, RefusesLargeCompressedAndForeignBytes) {
  GrpcDeframer large(4);
  large.add(frame_message("12345"));
  EXPECT_EQ(large.next().error().code(), Code::kInvalid);
  GrpcDeframer compressed(4);
  compressed.add(std::string("\x01\x00", 2));
  EXPECT_EQ(compressed.next().error().code(), Code::kCorrupt);
  GrpcDeframer foreign(4);
  foreign.add("HTTP");
  EXPECT_EQ(foreign.next().error().code(), Code::kCorrupt);
}

TEST(GrpcDeframer, IsNotEmptyInTheMiddleOfAMessage) {
  GrpcDeframer deframer(100);
  auto frame = frame_message("abc");
  deframer.add(frame.substr(0, 6));
  EXPECT_EQ(*deframer.next(), std::nullopt);
  EXPECT_FALSE(deframer.empty());
}

TEST(GrpcTimeout, IsRoundedUpAndNeverZero) {
  EXPECT_EQ(render_timeout(250ms), "250m");
  EXPECT_EQ(render_timeout(1500us), "2m");
  EXPECT_EQ(render_timeout(0s), "1m");
  EXPECT_EQ(render_timeout(-5s), "1m");
  EXPECT_EQ(render_timeout(24h), "86400000m");
  EXPECT_EQ(render_timeout(48h), "172800S");
  EXPECT_EQ(render_timeout(24h * 365 * 200), "99999999M");
}

TEST(GrpcMessage, IsPercentDecodedLeniently) {
  EXPECT_EQ(percent_decode("a%20b%0A%e2%98%ba"), "a b\n☺");
  EXPECT_EQ(percent_decode("100% %zz %4"), "100% %zz %4");
  EXPECT_EQ(percent_decode("%ff"), "\xef\xbf\xbd");  // not UTF-8: the replacement character
}

TEST(GrpcMetadata, BinaryValuesTravelAsBase64) {
  Headers raw = {{"x-bin", "\xab\xab\xab\x01"}, {"x", "plain"}};
  auto sent = encode_metadata(raw);
  EXPECT_EQ(sent[0].second, "q6urAQ");
  EXPECT_EQ(sent[1].second, "plain");
  EXPECT_EQ(decode_metadata(sent), raw);
  EXPECT_EQ(decode_metadata({{"x-bin", "q6urAQ=="}})[0].second, "\xab\xab\xab\x01");
  EXPECT_EQ(decode_metadata({{"x-bin", "not base64!"}})[0].second, "not base64!");
}

TEST(GrpcOutcome, ComesFromTrailersThenHeadThenHttp) {
  EXPECT_TRUE(grpc_outcome(200, {}, {{"grpc-status", "0"}}));
  auto refused = grpc_outcome(200, {}, {{"grpc-status", "5"}, {"grpc-message", "no%20key"}});
  EXPECT_EQ(refused.error().status(), 5);
  EXPECT_EQ(refused.error().message(), "no key");
  EXPECT_EQ(refused.error().code(), Code::kNotFound);
  EXPECT_EQ(grpc_outcome(200, {{"grpc-status", "12"}}, {}).error().status(), 12);
  EXPECT_EQ(grpc_outcome(200, {}, {}).error().status(), 2);
  EXPECT_EQ(grpc_outcome(200, {}, {{"grpc-status", "x"}}).error().status(), 2);
  const std::pair<int, int> by_http[] = {{400, 13}, {401, 16}, {403, 7},  {404, 12}, {429, 14},
                                         {502, 14}, {503, 14}, {504, 14}, {500, 2}};
  for (const auto& [http, status] : by_http)
    EXPECT_EQ(grpc_outcome(http, {}, {}).error().status(), status) << http;
}

// A server that fails after it has begun cannot tell us that it did nothing.
TEST(GrpcError, StatusesThatMayFollowAnEffectLeaveTheOutcomeUnknown) {
  for (int status : {1, 2, 4, 13, 14, 99, -1})
    EXPECT_EQ(grpc_error(status, "x").code(), Code::kUnknownOutcome) << status;
  EXPECT_EQ(grpc_error(3, "x").code(), Code::kInvalid);
  EXPECT_EQ(grpc_error(7, "x").code(), Code::kForbidden);
  EXPECT_EQ(grpc_error(8, "x").code(), Code::kThrottled);
  EXPECT_EQ(grpc_error(14, "").message(), "grpc status 14");
}

TEST(GrpcHead, MustBeGrpc) {
  EXPECT_TRUE(check_grpc_head(200, {{"content-type", "application/grpc+proto"}}));
  EXPECT_EQ(check_grpc_head(200, {{"content-type", "text/html"}}).error().code(), Code::kCorrupt);
  EXPECT_EQ(check_grpc_head(503, {}).error().status(), 14);
  EXPECT_EQ(check_grpc_head(500, {{"grpc-status", "0"}}).error().code(), Code::kCorrupt);
}

}  // namespace
}  // namespace quorate::net

#include "net/websocket.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace quorate::net {
namespace {

using Kind = WebSocketMessage::Kind;

constexpr std::size_t kLimit = 1 << 20;
constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";  // RFC 6455, section 1.3

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out.push_back(static_cast<char>(value));
  return out;
}

// What one side makes of the other's bytes, all at once.
Result<std::vector<WebSocketMessage>> read_all(WebSocketSide side, std::string wire,
                                               std::size_t limit = kLimit) {
  WebSocketDecoder decoder(side, limit);
  std::vector<WebSocketMessage> out;
  for (;;) {
    TRY(auto message, decoder.take(wire));
    if (!message) return out;
    out.push_back(std::move(*message));
  }
}

int refusal(WebSocketSide side, std::string wire, std::size_t limit = kLimit) {
  const auto read = read_all(side, std::move(wire), limit);
  return read ? 0 : read.error().status().value_or(-1);
}

RC_GTEST_PROP(WebSocket, GivesBackWhatWasSentHoweverItArrives, ()) {
  const bool masked = *rc::gen::arbitrary<bool>();
  const auto sent = *rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
  std::string wire;
  for (const auto& data : sent) {
    std::optional<WebSocketMask> mask;
    if (masked) mask = *rc::gen::arbitrary<WebSocketMask>();
    wire += render_frame(Kind::kBinary, data, mask);
  }
  WebSocketDecoder decoder(masked ? WebSocketSide::kServer : WebSocketSide::kClient, kLimit);
  std::vector<std::string> seen;
  std::string buffer;
  while (!wire.empty()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, wire.size() + 1);
    buffer.append(wire, 0, size);
    wire.erase(0, size);
    for (auto next = decoder.take(buffer); next && *next; next = decoder.take(buffer))
      seen.push_back((*next)->data);
  }
  RC_ASSERT(seen == sent);
  RC_ASSERT(buffer.empty());
}

TEST(WebSocket, WritesLengthsAsTheRfcDoes) {
  EXPECT_EQ(render_frame(Kind::kText, "Hello", std::nullopt), bytes({0x81, 0x05}) + "Hello");
  EXPECT_EQ(render_frame(Kind::kText, "Hello", WebSocketMask{0x37, 0xfa, 0x21, 0x3d}),
            bytes({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}));
  const std::string middle(256, 'x');
  EXPECT_EQ(render_frame(Kind::kBinary, middle, std::nullopt),
            bytes({0x82, 0x7e, 0x01, 0x00}) + middle);
  const std::string large(65536, 'x');
  EXPECT_EQ(render_frame(Kind::kBinary, large, std::nullopt),
            bytes({0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0}) + large);
}

TEST(WebSocket, JoinsPiecesAndLetsControlFramesInBetween) {
  const auto wire = bytes({0x01, 0x03}) + "Hel" + bytes({0x89, 0x01}) + "?" + bytes({0x80, 0x02}) +
                    "lo" + bytes({0x88, 0x00});
  const auto read = read_all(WebSocketSide::kClient, wire);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (std::vector<WebSocketMessage>{
                       {Kind::kPing, "?"}, {Kind::kText, "Hello"}, {Kind::kClose, ""}}));
}

TEST(WebSocket, RefusesWhatTheRfcForbids) {
  constexpr auto kClient = WebSocketSide::kClient;
  const auto masked = render_frame(Kind::kBinary, "x", WebSocketMask{1, 2, 3, 4});
  EXPECT_EQ(refusal(kClient, masked), 1002) << "a server masks";
  EXPECT_EQ(refusal(WebSocketSide::kServer, bytes({0x82, 0x01}) + "x"), 1002)
      << "a client does not mask";
  EXPECT_EQ(refusal(kClient, bytes({0xc2, 0x00})), 1002) << "a reserved bit";
  EXPECT_EQ(refusal(kClient, bytes({0x83, 0x00})), 1002) << "an unknown opcode";
  EXPECT_EQ(refusal(kClient, bytes({0x09, 0x00})), 1002) << "a control frame in pieces";
  EXPECT_EQ(refusal(kClient, bytes({0x89, 0x7e, 0, 126})), 1002) << "a long control frame";
  EXPECT_EQ(refusal(kClient, bytes({0x80, 0x00})), 1002) << "goes on with nothing";
  EXPECT_EQ(refusal(kClient, bytes({0x02, 0x00, 0x82, 0x00})), 1002) << "begins twice";
  EXPECT_EQ(refusal(kClient, bytes({0x82, 0x7e, 0, 125})), 1002) << "a length too wide";
  EXPECT_EQ(refusal(kClient, bytes({0x82, 0x7f, 0, 0, 0, 0, 0, 0, 0xff, 0xff})), 1002);
  EXPECT_EQ(refusal(kClient, bytes({0x81, 0x01, 0xff})), 1007) << "no UTF-8";
}

TEST(WebSocket, RefusesALargeMessageBeforeItHasCome) {
  constexpr auto kClient = WebSocketSide::kClient;
  EXPECT_EQ(refusal(kClient, bytes({0x82, 0x05}), 4), 1009);
  EXPECT_EQ(refusal(kClient, bytes({0x02, 0x03}) + "abc" + bytes({0x80, 0x02}), 4), 1009)
      << "in pieces";
  EXPECT_EQ(refusal(kClient, bytes({0x82, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})),
            1009);
  EXPECT_EQ(refusal(kClient, bytes({0x89, 0x05}) + "12345", 4), 0) << "control frames are small";
}

TEST(WebSocket, ClosesWithACodeAndAReasonThatFits) {
  const auto close = parse_close(render_close({1008, "not now"}));
  ASSERT_TRUE(close);
  EXPECT_EQ(close->code, 1008);
  EXPECT_EQ(close->reason, "not now");
  EXPECT_EQ(parse_close("")->code, 1005);
  EXPECT_EQ(render_close({1005, ""}), "");
  EXPECT_FALSE(parse_close("x"));
  EXPECT_FALSE(parse_close(bytes({0x03, 0xed}))) << "1005 is never sent";
  EXPECT_FALSE(parse_close(bytes({0x03, 0xe8, 0xff}))) << "no UTF-8";
  const auto cut = render_close({1000, std::string(122, 'x') + "é"});
  EXPECT_EQ(cut.size(), 124u) << "no half letter";
  EXPECT_TRUE(parse_close(cut));
}

TEST(WebSocket, ShakesHands) {
  constexpr std::string_view kBoth[] = {"v5.channel.k8s.io", "v4.channel.k8s.io"};
  constexpr std::string_view kOld[] = {"v4.channel.k8s.io"};
  const auto request = upgrade_headers(kKey, kBoth);
  EXPECT_TRUE(asks_for_websocket(request));
  const auto answer = accept_upgrade(request, kOld);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->protocol, "v4.channel.k8s.io");
  EXPECT_EQ(find_header(answer->headers, "sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  const auto chosen = check_upgrade(101, answer->headers, kKey, kBoth);
  ASSERT_TRUE(chosen) << chosen.error().text();
  EXPECT_EQ(*chosen, "v4.channel.k8s.io");
}

TEST(WebSocket, AcceptsNoOtherHandshake) {
  constexpr std::string_view kOurs[] = {"a"};
  constexpr std::string_view kOther[] = {"b"};
  const auto request = upgrade_headers(kKey, kOurs);
  EXPECT_FALSE(accept_upgrade(request, kOther));
  EXPECT_FALSE(accept_upgrade(upgrade_headers("c2hvcnQ=", kOurs), kOurs));
  EXPECT_FALSE(accept_upgrade({{"upgrade", "websocket"}}, kOurs));
  const auto answer = accept_upgrade(request, kOurs)->headers;
  EXPECT_FALSE(check_upgrade(200, answer, kKey, kOurs));
  EXPECT_FALSE(check_upgrade(101, answer, "another key", kOurs));
  EXPECT_FALSE(check_upgrade(101, answer, kKey, kOther));
  auto extended = answer;
  extended.emplace_back("sec-websocket-extensions", "permessage-deflate");
  EXPECT_FALSE(check_upgrade(101, extended, kKey, kOurs));
}

}  // namespace
}  // namespace quorate::net

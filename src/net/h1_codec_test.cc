#include "net/h1_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace quorate::net {
namespace {

constexpr std::size_t kLimit = 1000;

Result<std::optional<H1RequestHead>> request(std::string text) {
  return take_request_head(text, kLimit);
}

TEST(H1Head, ReadsARequest) {
  std::string buffer = "\r\nGET /a?b=c HTTP/1.1\r\nHost: x\r\nX-Empty:\r\nx-two:  v  \r\n\r\nrest";
  auto head = take_request_head(buffer, kLimit);
  ASSERT_TRUE(head && *head);
  EXPECT_EQ((*head)->method, "GET");
  EXPECT_EQ((*head)->target, "/a?b=c");
  EXPECT_EQ((*head)->minor, 1);
  const Headers expected = {{"host", "x"}, {"x-empty", ""}, {"x-two", "v"}};
  EXPECT_EQ((*head)->headers, expected);
  EXPECT_EQ(buffer, "rest");
}

TEST(H1Head, WaitsForTheWholeHead) {
  const std::string whole = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    auto head = request(whole.substr(0, size));
    ASSERT_TRUE(head) << size;
    EXPECT_FALSE(*head) << size;
  }
  EXPECT_TRUE(*request(whole));
}

TEST(H1Head, RefusesWhatCouldBeReadInTwoWays) {
  for (const char* text :
       {"GET /\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/1.2\r\n\r\n",
        "GET / HTTP/1.1\nhost: x\r\n\r\n", "GET / HTTP/1.1\r\nhost : x\r\n\r\n",
        "GET / HTTP/1.1\r\n folded\r\n\r\n", "GET / HTTP/1.1\r\nhost: a\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET x HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\rb\r\n\r\n", "G(T / HTTP/1.1\r\n\r\n",
        "GET /\x01 HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\n"})
    EXPECT_FALSE(request(text)) << text;
}

TEST(H1Head, RefusesHeadsBeyondTheLimit) {
  EXPECT_FALSE(request("GET / HTTP/1.1\r\nx: " + std::string(kLimit, 'x') + "\r\n\r\n"));
  EXPECT_FALSE(request(std::string(kLimit + 1, 'x')));
}

TEST(H1Framing, TakesTheLengthFromOneFieldAlone) {
  using Kind = H1Framing::Kind;
  EXPECT_EQ(request_framing({})->kind, Kind::kNone);
  EXPECT_EQ(request_framing({{"content-length", "12"}})->length, 12U);
  EXPECT_EQ(request_framing({{"transfer-encoding", "Chunked"}})->kind, Kind::kChunked);
  EXPECT_EQ(request_framing({{"content-length", "3"}, {"content-length", "3"}})->length, 3U);
  EXPECT_FALSE(request_framing({{"content-length", "3"}, {"content-length", "4"}}));
  EXPECT_FALSE(request_framing({{"content-length", "3"}, {"transfer-encoding", "chunked"}}));
  EXPECT_FALSE(request_framing({{"transfer-encoding", "gzip, chunked"}}));
  for (const char* length : {"", "-1", "+1", "0x1", "1 1", "99999999999999999999"})
    EXPECT_FALSE(request_framing({{"content-length", length}})) << length;
  EXPECT_EQ(response_framing({}, 200, "GET")->kind, Kind::kUntilClose);
  EXPECT_EQ(response_framing({{"content-length", "5"}}, 200, "HEAD")->kind, Kind::kNone);
  EXPECT_EQ(response_framing({{"content-length", "5"}}, 304, "GET")->kind, Kind::kNone);
}

TEST(H1Framing, KnowsWhetherTheConnectionGoesOn) {
  EXPECT_TRUE(keeps_alive(1, {}));
  EXPECT_FALSE(keeps_alive(0, {}));
  EXPECT_FALSE(keeps_alive(1, {{"connection", "x, Close"}}));
  EXPECT_TRUE(keeps_alive(0, {{"connection", "Keep-Alive"}}));
}

// However a chunked body is cut into pieces on its way, the same content comes out.
RC_GTEST_PROP(H1Body, DoesNotDependOnHowTheBytesArrive, ()) {
  const auto pieces =
      *rc::gen::container<std::vector<std::string>>(rc::gen::arbitrary<std::string>());
  std::string wire;
  std::string expected;
  for (const auto& piece : pieces) {
    wire += render_chunk(piece);
    expected += piece;
  }
  wire += render_last_chunk({{"x-end", "yes"}}) + "next";
  H1BodyDecoder body({H1Framing::Kind::kChunked, 0}, kLimit);
  std::string content;
  std::string buffer;
  while (!wire.empty()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, wire.size() + 1);
    buffer += wire.substr(0, size);
    wire.erase(0, size);
    RC_ASSERT(body.take(buffer, content).has_value());
  }
  RC_ASSERT(body.done());
  RC_ASSERT(content == expected);
  RC_ASSERT(buffer == "next");
  RC_ASSERT(find_header(body.trailers(), "x-end") == "yes");
}

TEST(H1Body, RefusesChunksThatAreNone) {
  for (const char* text : {"\r\n", "x\r\n", "-1\r\n", "ffffffffffffffffff\r\n", "1\r\nab\r\n",
                           "0\r\nbad trailer\r\n\r\n"}) {
    H1BodyDecoder body({H1Framing::Kind::kChunked, 0}, kLimit);
    std::string buffer = text;
    std::string content;
    EXPECT_FALSE(body.take(buffer, content)) << text;
  }
  H1BodyDecoder body({H1Framing::Kind::kChunked, 0}, kLimit);
  std::string buffer(1000, '1');
  std::string content;
  EXPECT_FALSE(body.take(buffer, content));
}

TEST(H1Render, LeavesFieldsOfTheConnectionToUs) {
  Request request;
  request.method = "POST";
  request.path = "/x";
  request.headers = {{"content-length", "999"}, {"x", "y"}};
  request.body = "four";
  EXPECT_EQ(render_request_head(request, "host:1"),
            "POST /x HTTP/1.1\r\nhost: host:1\r\nx: y\r\ncontent-length: 4\r\n\r\n");
}

}  // namespace
}  // namespace quorate::net
